import { type Logger, pino } from 'pino';
import { LogLines } from './log-lines.js';
import { logStream } from './standard-stream.js';

let lines: LogLines | null = null;

/** A log to standard error: standard output is for what people asked to see. Waiting lines are written at exit, as far as someone reads. */
export function createLogger(level: string): Logger {
  lines ??= standardErrorLines();
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, lines);
}

function standardErrorLines(): LogLines {
  const created = new LogLines(logStream());
  process.once('exit', () => created.flush());
  return created;
}

import type { StartRequest } from '../../src/client/index.js';
import { joinCommand, splitCommand } from '../command-line.js';

/** The start form, as it is typed. */
export interface StartFields {
  command: string;
  shell: boolean;
  tty: boolean;
  pipe_stdin: boolean;
  cwd: string;
  env: string;
  labels: string;
  timeout: string;
  process_id: string;
}

export const NO_FIELDS: StartFields = {
  command: '',
  shell: false,
  tty: false,
  pipe_stdin: false,
  cwd: '',
  env: '',
  labels: '',
  timeout: '',
  process_id: '',
};

/** What the form says: what to start, or what is wrong with it. */
export type ReadFields = { request: StartRequest; shell_words: string[] } | { error: string };

/** How the shell is called. */
const SHELL = ['sh', '-c'];

const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, min: 60_000, m: 60_000, h: 3_600_000 };

/** Fills the form with what was started before. */
export function fieldsOf(request: StartRequest): StartFields {
  const [shell, flag, script, ...more] = request.argv;
  const in_shell = shell === SHELL[0] && flag === SHELL[1] && script !== undefined && more.length === 0;
  return {
    ...NO_FIELDS,
    command: in_shell ? script : joinCommand(request.argv),
    shell: in_shell,
    tty: Boolean(request.tty),
    pipe_stdin: request.pipe_stdin ?? false,
    cwd: request.cwd ?? '',
    env: pairText(request.env),
    labels: pairText(request.labels),
    timeout: request.timeout_ms === undefined ? '' : `${request.timeout_ms} ms`,
  };
}

/** Reads the form. The gateway judges the rest. */
export function readFields(fields: StartFields): ReadFields {
  const parsed = fields.shell ? inShell(fields.command) : splitCommand(fields.command);
  if ('error' in parsed) return parsed;
  const env = pairs(fields.env, 'variable');
  if (typeof env === 'string') return { error: env };
  const labels = pairs(fields.labels, 'label');
  if (typeof labels === 'string') return { error: labels };
  const timeout_ms = milliseconds(fields.timeout);
  if (timeout_ms === null)
    return { error: `The time limit ${JSON.stringify(fields.timeout)} is not one: write 500 ms, 30 s, 5 min or 2 h.` };
  const request: StartRequest = { argv: parsed.argv };
  if (fields.cwd.trim() !== '') request.cwd = fields.cwd.trim();
  if (Object.keys(env).length > 0) request.env = env;
  if (Object.keys(labels).length > 0) request.labels = labels;
  if (fields.tty) request.tty = true;
  else if (fields.pipe_stdin) request.pipe_stdin = true;
  if (timeout_ms !== undefined) request.timeout_ms = timeout_ms;
  if (fields.process_id.trim() !== '') request.process_id = fields.process_id.trim();
  return { request, shell_words: parsed.shell_words };
}

function inShell(command: string): ReturnType<typeof splitCommand> {
  return command.trim() === '' ? { error: 'Type a command.' } : { argv: [...SHELL, command], shell_words: [] };
}

const pairText = (record: Record<string, string> = {}) =>
  Object.entries(record)
    .map(([key, value]) => `${key}=${value}`)
    .join('\n');

/** One `NAME=value` a line; a name alone has an empty value. A text says what is wrong. */
function pairs(text: string, what: string): Record<string, string> | string {
  const found: Record<string, string> = {};
  for (const line of text.split('\n').filter((line) => line.trim() !== '')) {
    const at = line.indexOf('=');
    const name = (at === -1 ? line : line.slice(0, at)).trim();
    if (name === '') return `A ${what} has no name: write NAME=value, one a line.`;
    Object.defineProperty(found, name, {
      value: at === -1 ? '' : line.slice(at + 1),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return found;
}

/** Undefined when nothing is said, null when it is no time. */
function milliseconds(text: string): number | undefined | null {
  if (text.trim() === '') return undefined;
  const [, number = '', unit = 's'] = /^\s*(\d+(?:\.\d+)?)\s*(ms|s|min|m|h)?\s*$/.exec(text) ?? [];
  const ms = Math.round(Number(number) * (UNIT_MS[unit] as number));
  return number === '' || ms < 1 ? null : ms;
}

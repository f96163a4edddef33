import type { ProcessInfo } from '../protocol/process.js';
import { durationText } from './duration.js';
import { shellWord } from './token.js';

const TITLES = ['ID', 'STATE', 'EXIT', 'AGE', 'COMMAND'];

/**
 * Processes as a table for a person.
 * @param now in milliseconds since 1970
 * @param columns width of the terminal, to which the commands are cut; null for no limit
 */
export function processTable(processes: ProcessInfo[], now: number, columns: number | null): string {
  const rows = [TITLES, ...processes.map((process) => row(process, now))];
  const widths = TITLES.map((_title, at) => Math.max(...rows.map((cells) => (cells[at] as string).length)));
  const line = (cells: string[]) =>
    cells.map((cell, at) => (at === TITLES.length - 1 ? cell : cell.padEnd(widths[at] as number))).join('  ');
  return rows.map((cells) => cut(line(cells), columns)).join('\n');
}

function row({ process_id, state, exit_code, signal, created_at, argv }: ProcessInfo, now: number): string[] {
  const exit = exit_code === null ? '' : signal === null ? String(exit_code) : `${exit_code} ${signal}`;
  return [process_id, state, exit, durationText(now - Date.parse(created_at)), argv.map((word) => printable(shellWord(word))).join(' ')];
}

/** What would move the cursor is shown as its escape. */
function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

function cut(text: string, columns: number | null): string {
  const characters = [...text];
  return columns === null || characters.length <= columns ? text : `${characters.slice(0, Math.max(1, columns - 1)).join('')}…`;
}

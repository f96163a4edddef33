import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './proc.js';

const PLACES = ['/usr/bin/tmux', '/usr/local/bin/tmux'];

/** Where tmux is on this machine, or null. Says so aloud when there is none: what needs a terminal is skipped then. */
export function findTmux(): string | null {
  const path = PLACES.find((place) => existsSync(place));
  if (path) return path;
  process.stderr.write('\n*** No tmux here: the command line is NOT tested on a terminal. Install it (apt-get install tmux vim). ***\n\n');
  return null;
}

/** Each look is a program of its own. */
const LOOK_MS = 60;

/** A terminal with a program in it, as a person has one. */
export class Tmux implements Disposable {
  readonly #dir = mkdtempSync(join(tmpdir(), 'tmux-'));

  /** @param command a line for sh; its terminal has 80 columns and 24 rows */
  constructor(command: string, env: Record<string, string> = {}) {
    const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    this.#call('new-session', '-d', '-x', '80', '-y', '24', ...variables, command);
  }

  /** What it shows, without the blanks at the ends of lines. */
  screen(): string {
    return this.#call('capture-pane', '-p').replace(/ +$/gm, '').trimEnd();
  }

  /** Waits until it shows `text`. */
  async shows(text: string | RegExp): Promise<string> {
    let screen = '';
    const found = () => {
      screen = this.screen();
      return typeof text === 'string' ? screen.includes(text) : text.test(screen);
    };
    await until(`the terminal shows ${text}`, found, 20_000, LOOK_MS).catch((error: Error) => {
      throw new Error(`${error.message}\n${screen}`);
    });
    return screen;
  }

  /** Presses keys: `Enter`, `C-c`, `Escape`, or text. */
  keys(...keys: string[]): void {
    this.#call('send-keys', ...keys);
  }

  /** Types text as it is. */
  type(text: string): void {
    this.#call('send-keys', '-l', text);
  }

  /** Pastes a file, as a person would from a clipboard. */
  paste(path: string): void {
    this.#call('load-buffer', path, ';', 'paste-buffer', '-r');
  }

  resize(cols: number, rows: number): void {
    this.#call('resize-window', '-x', String(cols), '-y', String(rows));
  }

  [Symbol.dispose](): void {
    try {
      this.#call('kill-server');
    } catch {
      // It ends by itself when the program in it has ended.
    }
    rmSync(this.#dir, { recursive: true });
  }

  #call(...args: string[]): string {
    const words = ['-S', join(this.#dir, 'socket'), '-f', '/dev/null', ...args];
    return execFileSync(findTmux() as string, words, { encoding: 'utf8', env: { ...process.env, LANG: 'C.UTF-8' } });
  }
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RemoteExecProcess } from '../../src/client/remote-exec-process.js';
import { bytesIn } from '../../src/process/transcript/block.js';
import { END_BYTES, readRecord } from '../../src/process/transcript/record.js';
import { until } from '../support/proc.js';

const HOLDER = fileURLToPath(new URL('holder.mjs', import.meta.url));

/** What one is started with. */
interface Held {
  limits?: { retain_closed_ms?: number; max_closed?: number; max_processes?: number };
  transcripts?: { transcript_bytes: number; transcript_total_bytes: number };
  /** What its clock says all the time, in milliseconds since 1970. Default: the time. */
  clock_ms?: number;
}

/** A data directory, and the program that holds its processes: one after the other. */
export class Lasting {
  readonly dir = mkdtempSync(join(tmpdir(), 'lasting-'));
  #child!: ChildProcess;
  process!: RemoteExecProcess;
  /** What was said of the directory. */
  stderr = '';

  /** Starts one. */
  async open({ limits, ...held }: Held = {}): Promise<void> {
    const env = { ...process.env, HOLDER: JSON.stringify({ ...held, limits: { retain_bytes: 65_536, ...limits } }) };
    this.#child = spawn(process.execPath, [HOLDER, this.dir], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    const [url] = await Promise.race([
      once(this.#child.stdout as NodeJS.ReadableStream, 'data'),
      once(this.#child, 'close').then(() => ['']),
    ]);
    if (String(url) === '') throw new Error(`It was not ready.\n${this.stderr}`);
    this.process = new RemoteExecProcess({ url: String(url).trim(), token: 'holder' });
  }

  /** Ends it: by SIGKILL it crashes. */
  async end(signal: NodeJS.Signals): Promise<void> {
    const closed = once(this.#child, 'close');
    this.#child.kill(signal);
    await closed;
  }

  /** It crashes, and another one takes its place. */
  async crash(between: () => void = () => {}, held?: Held): Promise<void> {
    await this.end('SIGKILL');
    between();
    await this.open(held);
  }

  /** What is kept of a process, or of all. */
  files(process_id = ''): string[] {
    const dir = join(this.dir, 'transcripts', process_id);
    return readdirSync(dir).map((name) => join(dir, name));
  }

  /** The files of its output, the first one first. */
  output(process_id: string): string[] {
    const files = this.files(process_id).filter((path) => /^\d+-\d+$/.test(basename(path)));
    return files.sort((a, b) => Number.parseInt(basename(a), 10) - Number.parseInt(basename(b), 10));
  }

  /** The file of what became of it. */
  record(process_id: string): string {
    return join(this.dir, 'transcripts', process_id, 'process');
  }

  /** All that it printed is on disk, and nothing more will be. */
  async sealed(process_id: string): Promise<void> {
    const last = () => readFileSync(this.output(process_id).at(-1) as string);
    const end = () => readRecord(last().subarray(-END_BYTES), 0);
    await until('its output has an end', () => 'end' in (end()?.content ?? {}), 60_000);
  }

  /** All that it printed is on disk. */
  async written(process_id: string): Promise<void> {
    const { total_bytes } = await this.process.get(process_id);
    const written = () => {
      const last = this.output(process_id).at(-1);
      return last === undefined ? 0 : Number(basename(last).split('-')[1]) + outputIn(readFileSync(last));
    };
    await until(`${total_bytes} bytes are written`, () => written() === total_bytes, 60_000);
  }

  async close(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await this.end('SIGTERM');
    rmSync(this.dir, { recursive: true });
  }
}

/** Bytes of output in a file of it. */
function outputIn(file: Buffer): number {
  let bytes = 0;
  for (let found = readRecord(file, 0); found; found = readRecord(file, found.end)) {
    if ('block' in found.content) bytes += bytesIn(found.content.block, Number.POSITIVE_INFINITY);
  }
  return bytes;
}

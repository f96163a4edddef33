import type { Stream } from '../protocol/index.js';

/** The head of what a process prints: up to `max_bytes` of each stream, the rest only counted as cut. */
export class RunCapture {
  readonly #max_bytes: number;
  readonly #heads: Record<'stdout' | 'stderr', { parts: Uint8Array[]; size: number }> = {
    stdout: { parts: [], size: 0 },
    stderr: { parts: [], size: 0 },
  };
  truncated = false;

  constructor(max_bytes: number) {
    this.#max_bytes = max_bytes;
  }

  /** Takes a copy of what it keeps. */
  take(stream: Stream, chunk: Uint8Array): void {
    const head = this.#heads[stream === 'stderr' ? 'stderr' : 'stdout'];
    const room = this.#max_bytes - head.size;
    if (chunk.length > room) this.truncated = true;
    if (room <= 0) return;
    head.parts.push(Uint8Array.from(chunk.subarray(0, room)));
    head.size += Math.min(chunk.length, room);
  }

  bytes(stream: 'stdout' | 'stderr'): Uint8Array {
    const { parts } = this.#heads[stream];
    return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
  }
}

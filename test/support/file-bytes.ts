import type { FileContent } from '../../src/protocol/index.js';

/** All bytes of a content. */
export async function bytesOf({ body }: Pick<FileContent, 'body'>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(Buffer.from(part));
  return Buffer.concat(parts);
}

/** A body that comes in parts. */
export async function* parts(...values: (string | Uint8Array)[]): AsyncGenerator<Uint8Array, void> {
  for (const value of values) yield typeof value === 'string' ? Buffer.from(value) : value;
}

import type { IncomingMessage } from 'node:http';
import { errorCodes } from 'fastify';

/** Bodies of up to this size are gathered in memory that is filled again, in bytes: fresh memory makes the engine collect all the time. */
const BLOCK_BYTES = 4 * 1024 * 1024;

/** Smaller bodies are not worth it, in bytes. */
const LEAST_BYTES = 64 * 1024;

/** Blocks at once; further bodies get fresh memory. */
const MOST_BLOCKS = 4;

const spares: Buffer[] = [];
const blocks = new WeakSet<ArrayBufferLike>();
let count = 0;

/** One that was not given back is gone with its body. */
const forgotten = new FinalizationRegistry<void>(() => count--);

/** A body of raw bytes, gathered. @throws what the request breaks off with, and Fastify's errors for a body that is too large or short */
export async function gatherOctets(body: IncomingMessage, limit: number): Promise<Buffer> {
  const declared = Number(body.headers['content-length'] ?? Number.NaN);
  if (declared > limit) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE();
  const target = declared >= LEAST_BYTES && declared <= BLOCK_BYTES ? takeBlock() : null;
  const chunks: Uint8Array[] = [];
  let received = 0;
  await new Promise<void>((resolve, reject) => {
    const take = (chunk: Buffer) => {
      if (target === null) chunks.push(chunk);
      else target.set(chunk.subarray(0, target.length - received), received);
      received += chunk.length;
      if (received > limit) settle(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
    };
    const settle = (error?: Error) => {
      body.off('data', take).off('end', settle).off('error', settle);
      if (error) reject(Object.assign(error, { statusCode: (error as { statusCode?: number }).statusCode ?? 400 }));
      else resolve();
    };
    body.on('data', take).on('end', settle).on('error', settle);
    body.resume();
  });
  if (!Number.isNaN(declared) && received !== declared) throw new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH();
  return target === null ? Buffer.concat(chunks, received) : target.subarray(0, received);
}

/** Nobody uses the bytes of this body any more: their memory may be filled again. */
export function releaseOctets({ buffer }: Uint8Array): void {
  if (blocks.has(buffer)) spares.push(Buffer.from(buffer));
}

function takeBlock(): Buffer | null {
  const spare = spares.pop();
  if (spare || count === MOST_BLOCKS) return spare ?? null;
  const block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  count++;
  blocks.add(block.buffer);
  forgotten.register(block.buffer);
  return block;
}

import type { FileBody } from '../protocol/file-system.js';

/** A body as `fetch` sends it, and what it failed with, which `fetch` does not tell. */
export interface Upload {
  body: Uint8Array | Blob | ReadableStream<Uint8Array>;
  failure(): { error: unknown } | null;
}

/** Browsers send a stream over HTTP/2 only, if at all: there it is gathered first. */
const GATHERS = 'document' in globalThis || 'importScripts' in globalThis;

/** Makes a body of what is to be sent: what can be sent again stays as it is. */
export async function upload(source: FileBody | Blob): Promise<Upload> {
  if (source instanceof Uint8Array || source instanceof Blob) return { body: source, failure: () => null };
  if (GATHERS) return { body: await gather(source), failure: () => null };
  let failed: { error: unknown } | null = null;
  const iterator = source[Symbol.asyncIterator]();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await iterator.next();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          failed = { error };
          throw error;
        }
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    // Nothing is read before it is asked for.
    { highWaterMark: 0 },
  );
  return { body, failure: () => failed };
}

async function gather(source: AsyncIterable<Uint8Array>): Promise<Blob> {
  const parts: BlobPart[] = [];
  for await (const part of source) parts.push(part as Uint8Array<ArrayBuffer>);
  return new Blob(parts);
}

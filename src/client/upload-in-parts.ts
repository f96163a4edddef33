import { GatewayError } from '../protocol/error.js';
import type { ExecutorFileSystem, FilePath, UploadName, WriteFileOptions } from '../protocol/file-system.js';
import type { Upload } from '../protocol/upload.js';
import { attempt } from './attempt.js';
import { onAbort } from './on-abort.js';
import { Backoff, type RetryOptions } from './retry.js';

/** Sent in one request at most, in bytes: each is put on the disk before it is answered. */
const PART_BYTES = 64 * 1024 * 1024;

/** Time that the gateway is given to make or forget an upload that is given up, in milliseconds. */
const CANCEL_MS = 2_000;

/** What is gone with another attempt: the line broke, or the gateway is being started anew. */
const PASSING = new Set(['upstream_unreachable', 'request_timeout', 'shutting_down', 'resource_exhausted']);

/** Content that can be read again from anywhere. */
interface FileSource {
  size_bytes: number;
  /** `length` bytes at most, from `offset` on. */
  read(offset: number, length: number): AsyncIterable<Uint8Array>;
}

/**
 * Sends a file over as many connections as it takes; what has arrived is not sent again. One that fails, or is given up, is
 * taken away again, as far as the gateway can be reached.
 */
export async function uploadInParts(
  system: ExecutorFileSystem,
  path: FilePath,
  source: FileSource,
  options: WriteFileOptions,
  retry: Required<RetryOptions>,
): Promise<void> {
  options.signal?.throwIfAborted();
  const upload = await unlessLate(options.signal, (signal) => system.createUpload(path, source.size_bytes, { ...options, signal }));
  const name = { ...path, upload_id: upload.upload_id, size_bytes: source.size_bytes };
  try {
    await sendAll(system, name, upload, source, options, retry);
  } catch (error) {
    await attempt((signal) => system.cancelUpload(name, { signal }), CANCEL_MS).catch(() => undefined); // it expires
    throw error;
  }
}

async function sendAll(
  system: ExecutorFileSystem,
  name: UploadName,
  created: Upload,
  source: FileSource,
  options: WriteFileOptions,
  retry: Required<RetryOptions>,
): Promise<void> {
  const { create_parents: _made, signal, ...rest } = options;
  const backoff = new Backoff(retry);
  let known: Upload | null = created;
  for (let at = 0; ; ) {
    try {
      known ??= await attempt((signal) => system.getUpload(name, { signal }), retry.silence_ms, signal);
      if (known.offset_bytes > at) backoff.progress();
      if (known.complete) return;
      at = known.offset_bytes;
      known = null;
      known = await unlessStalled(retry.silence_ms, signal, (signal, moved) =>
        system.appendUpload(name, at, moving(source.read(at, PART_BYTES), moved), { ...rest, signal }),
      );
    } catch (error) {
      if (!(error instanceof GatewayError && PASSING.has(error.code))) throw error;
      await backoff.pause(error, signal);
    }
  }
}

/** Gives a call up some time after the signal: what it makes can only be taken away when its answer is known. */
async function unlessLate<T>(signal: AbortSignal | undefined, call: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const forget = onAbort(signal, () => {
    timer = setTimeout(() => controller.abort(signal?.reason), CANCEL_MS);
  });
  try {
    return await call(controller.signal);
  } finally {
    clearTimeout(timer);
    forget();
  }
}

async function* moving(body: AsyncIterable<Uint8Array>, moved: () => void): AsyncGenerator<Uint8Array, void> {
  for await (const bytes of body) {
    moved();
    yield bytes;
  }
  moved();
}

/** Gives a call up that says nothing, and takes nothing, for so long: a line may die without a word. */
async function unlessStalled<T>(
  silence_ms: number,
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal, moved: () => void) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const forget = onAbort(signal, () => controller.abort(signal?.reason));
  const stalled = new GatewayError('upstream_unreachable', `The gateway took nothing for ${silence_ms} ms.`);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let over = false;
  const moved = () => {
    clearTimeout(timer);
    // A body that is still being read when its call has failed keeps no program alive.
    if (!over) timer = setTimeout(() => controller.abort(stalled), silence_ms);
  };
  moved();
  try {
    return await call(controller.signal, moved);
  } finally {
    over = true;
    clearTimeout(timer);
    forget();
  }
}

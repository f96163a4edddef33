import type { FileBody } from '../protocol/file-system.js';
import { nextOrAbort } from './next-or-abort.js';

/** The failure of a body, which is not the file's: it is told as it is. */
export class BodyFailure {
  constructor(readonly cause: unknown) {}
}

/**
 * The parts of a body as they come, until it ends or the signal aborts.
 * @throws {BodyFailure}
 */
export async function* bodyParts(body: FileBody, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, void> {
  const iterator = (body instanceof Uint8Array ? whole(body) : body)[Symbol.asyncIterator]();
  let done = false;
  try {
    for (;;) {
      const turn = await nextOrAbort(iterator, signal).catch((error) => {
        throw new BodyFailure(error);
      });
      if (turn.done) break;
      yield turn.value;
    }
    done = true;
  } finally {
    // Not waited for: a body that hangs would hold up whoever reads it.
    if (!done) iterator.return?.().catch(() => undefined);
  }
}

async function* whole(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  yield bytes;
}

import type { Call } from './context.js';
import type { Params } from './params.js';
import { invalidParams } from './rpc-error.js';
import { startParams } from './start-params.js';

/** Reads of one connection that may wait at a time; further ones answer at once, as if their time was over. */
const MOST_POLLS = 64;

/** Longest wait of one read, in milliseconds. */
const MAX_WAIT_MS = 600_000;

/** The `process/*` methods. */
export const PROCESS_METHODS: Record<string, (params: Params) => Call> = {
  'process/start': (params) => {
    const start = startParams(params);
    return async ({ session }) => await session().start(start);
  },

  'process/read': (params) => {
    const processId = params.text('processId');
    const waitMs = Math.min(params.optionalCount('waitMs') ?? 0, MAX_WAIT_MS);
    const query = { afterSeq: params.optionalCount('afterSeq') ?? 0, maxBytes: params.optionalCount('maxBytes') };
    return async (context) => {
      const process = context.session().get(processId);
      const waits = waitMs > 0 && context.polls < MOST_POLLS;
      if (waits) context.polls++;
      try {
        return await process.read({ ...query, waitMs: waits ? waitMs : 0 }, context.gone);
      } finally {
        if (waits) context.polls--;
      }
    };
  },

  'process/write': (params) => {
    const processId = params.text('processId');
    const writeId = params.text('writeId');
    const bytes = params.bytes('chunk');
    if (writeId === '') throw invalidParams('writeId must not be empty');
    if (writeId.length > 1024) throw invalidParams('writeId is longer than 1024 characters');
    return async ({ session }) => {
      const process = session().find(processId);
      return { status: process ? await process.write(bytes, writeId) : 'unknownProcess' };
    };
  },

  'process/signal': (params) => {
    const processId = params.text('processId');
    params.word('signal', ['interrupt']);
    return async ({ session }) => {
      await session().find(processId)?.interrupt();
      return {};
    };
  },

  'process/terminate': (params) => {
    const processId = params.text('processId');
    return async ({ session }) => ({ running: (await session().find(processId)?.terminate()) ?? false });
  },
};

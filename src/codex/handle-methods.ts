import type { Call } from './context.js';
import type { Params } from './params.js';
import { invalidParams, invalidRequest } from './rpc-error.js';

/** Largest block, in bytes. */
const MAX_BLOCK_BYTES = 1024 * 1024;

/** The methods of open files. */
export const HANDLE_METHODS: Record<string, (params: Params) => Call> = {
  'fs/open': (params) => {
    const handleId = params.text('handleId');
    const path = params.path('path');
    const mode = params.word('mode', ['read', 'replace'], true);
    if (handleId.length > 1024) throw invalidParams('handleId is longer than 1024 characters');
    return async ({ handles, access, gone }) => {
      await handles.open(handleId, path, mode, access, gone);
      return { handleId };
    };
  },

  'fs/readBlock': (params) => {
    const handleId = params.text('handleId');
    const offset = params.count('offset');
    const len = params.count('len');
    return async ({ handles, gone }) => {
      if (len < 1 || len > MAX_BLOCK_BYTES) throw invalidRequest(`file read block length must be between 1 and ${MAX_BLOCK_BYTES}`);
      const { bytes, eof } = await handles.read(handleId, offset, len, gone);
      return { chunk: bytes.toString('base64'), eof };
    };
  },

  'fs/writeBlock': (params) => {
    const handleId = params.text('handleId');
    const offset = params.count('offset');
    const bytes = params.bytes('chunk');
    return async ({ handles }) => {
      if (bytes.length > MAX_BLOCK_BYTES) throw invalidRequest(`file write block length must be at most ${MAX_BLOCK_BYTES}`);
      await handles.write(handleId, offset, bytes);
      return {};
    };
  },

  'fs/close': (params) => {
    const handleId = params.text('handleId');
    return async ({ handles, gone }) => {
      await handles.closeHandle(handleId, gone);
      return {};
    };
  },
};

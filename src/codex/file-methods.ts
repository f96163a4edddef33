import { type FileMetadata, type FilePath, GatewayError } from '../protocol/index.js';
import type { Call, Context } from './context.js';
import { fileUri } from './file-uri.js';
import { HANDLE_METHODS } from './handle-methods.js';
import { listDirectory } from './list-directory.js';
import type { FileAccess } from './machine.js';
import { base64Bytes, type Params } from './params.js';
import { realPath } from './real-path.js';
import { invalidRequest } from './rpc-error.js';
import { allowsAllFiles, sandboxPolicy } from './sandbox.js';
import { cannotEnforce } from './sandbox-members.js';
import { walkOptions, walkTree } from './walk-tree.js';
import { readWhole } from './whole-file.js';

/** A call that works on the files its sandbox leaves. */
const guarded =
  (read: (params: Params) => Call) =>
  (params: Params): Call => {
    const call = read(params);
    return async (context, id) => {
      const policy = sandboxPolicy(params);
      if (policy === null || allowsAllFiles(policy)) return await call(context, id);
      const { sandboxed } = context;
      if (sandboxed === null) throw cannotEnforce();
      const access: FileAccess = (act) => sandboxed.use(policy, act);
      return await access((files) => call({ ...context, files, access }, id));
    };
  };

/** The `fs/*` methods. */
export const FILE_METHODS: Record<string, (params: Params) => Call> = {
  'fs/readFile': guarded((params) => {
    const path = params.path('path');
    return (context, id) => readWhole(context, id, path);
  }),

  'fs/writeFile': guarded((params) => {
    const path = params.path('path');
    const text = params.text('dataBase64');
    return async ({ files, machine, gone }) => {
      const bytes = base64Bytes(text);
      if (bytes === null) throw invalidRequest('fs/writeFile requires valid base64 dataBase64: standard alphabet, padded');
      checkSize(bytes.length, machine.max_file_bytes);
      await files.writeFile(path, bytes, { signal: gone });
      return {};
    };
  }),

  'fs/createDirectory': guarded((params) => {
    const path = params.path('path');
    const recursive = params.optionalFlag('recursive', true);
    return async ({ files, gone }) => {
      await files.createDirectory(path, { recursive, signal: gone });
      return {};
    };
  }),

  'fs/getMetadata': guarded((params) => {
    const path = params.path('path');
    const follow = params.optionalFlag('followSymlinks', true);
    return (context) => metadata(context, path, follow);
  }),

  'fs/canonicalize': guarded((params) => {
    const path = params.path('path');
    return async ({ files, gone }) => ({ path: fileUri((await realPath(files, path, gone)).path) });
  }),

  'fs/readDirectory': guarded((params) => {
    const path = params.path('path');
    return async ({ files, gone }) => {
      const entries = await listDirectory(files, path, gone);
      return { entries: entries.map(({ name, type }) => ({ fileName: name, isDirectory: type === 'directory', isFile: type === 'file' })) };
    };
  }),

  'fs/walk': guarded((params) => {
    const path = params.path('path');
    const options = walkOptions(params.params('options'));
    return async ({ files, gone }) => await walkTree(files, path, options, gone);
  }),

  'fs/remove': guarded((params) => {
    const path = params.path('path');
    const recursive = params.optionalFlag('recursive', true);
    const force = params.optionalFlag('force', true);
    return async ({ files, gone }) => {
      await files.remove(path, { recursive, force, signal: gone });
      return {};
    };
  }),

  'fs/copy': guarded((params) => {
    const source = params.path('sourcePath');
    const destination = params.path('destinationPath');
    const recursive = params.flag('recursive');
    return (context) => copy(context, source, destination, recursive);
  }),

  'fs/watchMissing': guarded((params) => {
    const watchId = params.count('watchId');
    const missing = params.paths('missing');
    const present = params.optionalPath('present');
    return async ({ watches, access }) => ({ watching: await watches.add(watchId, missing, present, access) });
  }),

  ...Object.fromEntries(Object.entries(HANDLE_METHODS).map(([name, read]) => [name, guarded(read)])),
};

/** @throws {RpcError} for a file larger than this gateway makes */
function checkSize(bytes: number, limit: number | null): void {
  if (limit !== null && bytes > limit) throw invalidRequest(`the file has ${bytes} bytes, and the limit of this gateway is ${limit}`);
}

/** Of what a link leads to, and whether it was one. */
async function metadata({ files, gone: signal }: Context, path: FilePath, follow: boolean): Promise<object> {
  if (!follow && (await realPath(files, path, signal)).through_link) throw invalidRequest('path contains a symbolic link');
  const own = await files.getMetadata(path, { signal });
  const isSymlink = own.type === 'symlink';
  const { type, size_bytes, created_at, modified_at }: FileMetadata = isSymlink
    ? await files.getMetadata(path, { follow_symlinks: true, signal })
    : own;
  return {
    isDirectory: type === 'directory',
    isFile: type === 'file',
    isSymlink,
    size: size_bytes,
    createdAtMs: created_at === null ? 0 : Date.parse(created_at),
    modifiedAtMs: Date.parse(modified_at),
  };
}

/** Copies over what is there; a directory into one that is there. */
async function copy({ files, gone: signal }: Context, source: FilePath, destination: FilePath, recursive: boolean): Promise<object> {
  const request = {
    source_path: source.path,
    source_path_base64: source.path_base64,
    destination_path: destination.path,
    destination_path_base64: destination.path_base64,
  };
  const given = Object.fromEntries(Object.entries(request).filter(([, value]) => value !== undefined));
  try {
    await files.copy({ ...given, recursive, overwrite: true }, { signal });
    return {};
  } catch (error) {
    const refused = error instanceof GatewayError && COPY_REFUSALS[error.code];
    throw refused ? invalidRequest(refused) : error;
  }
}

const COPY_REFUSALS: Partial<Record<GatewayError['code'], string>> = {
  is_a_directory: 'fs/copy requires recursive: true when sourcePath is a directory',
  copy_into_itself: 'fs/copy cannot copy a directory to itself or one of its descendants',
  not_regular_file: 'fs/copy only supports regular files, directories, and symlinks',
};

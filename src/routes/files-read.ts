import { Type } from '@sinclair/typebox';
import type { FastifyReply } from 'fastify';
import type { GatewayApp } from '../plugins/gateway-app.js';
import { GatewayError } from '../protocol/error.js';
import { type FileMetadata, pathFields } from '../protocol/file.js';
import type { ExecutorFileSystem, FileContent, FilePath } from '../protocol/file-system.js';
import { Strict } from '../protocol/schema.js';
import { begun } from './begun.js';
import { type ByteRange, byteRanges } from './byte-ranges.js';
import { whileCallerStays } from './caller-gone.js';
import { fileHeaders } from './file-headers.js';
import { sendContent } from './file-reply.js';
import { multipart } from './multipart.js';
import { type ConditionHeaders, judge, rangeCounts } from './preconditions.js';

const ReadParameters = Strict({
  ...pathFields,
  download: Type.Optional(Type.Boolean({ description: 'Ask a browser to save it under its name, whatever it is.', default: false })),
});

/** Times that a file is looked at again because it changed before it was opened. */
const ATTEMPTS = 5;

/** Headers for which a file is looked at before it is opened. */
const ASKING = ['range', 'if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'] as const;

/** One request for the content of a file. */
interface Wanted {
  path: FilePath;
  download: boolean;
  headers: ConditionHeaders & { range?: string | undefined };
  signal: AbortSignal | undefined;
}

/** `GET /fs/file` and `HEAD /fs/file`. */
export function fileReadRoutes(app: GatewayApp, files: ExecutorFileSystem): void {
  const schema = { querystring: ReadParameters };
  app.get('/fs/file', { schema }, ({ query: { download = false, ...path }, headers }, reply) =>
    whileCallerStays(reply, async ({ signal }) => {
      const wanted = { path, download, headers, signal };
      if (ASKING.some((name) => headers[name] !== undefined)) return sendAsked(reply, files, wanted);
      return sendWhole(reply, wanted, await files.readFile(path, { reuse: true, signal }));
    }),
  );

  app.head('/fs/file', { schema }, ({ query: { download = false, ...path }, headers }, reply) =>
    whileCallerStays(reply, async ({ signal }) => {
      const metadata = await lookAt(files, path, signal);
      reply.headers(fileHeaders(path, metadata, download));
      if (!hasChanged(headers, path, metadata)) return reply.code(304).send();
      // Of a file that says it is empty only reading it tells the length.
      if (metadata.size_bytes > 0) reply.header('content-length', metadata.size_bytes);
      return reply.send();
    }),
  );
}

async function sendAsked(reply: FastifyReply, files: ExecutorFileSystem, wanted: Wanted): Promise<FastifyReply> {
  const { path, headers, download, signal } = wanted;
  // What was judged is what must be read. Without these conditions any content will do.
  const conditional = ['if-match', 'if-unmodified-since', 'if-range'].some((name) => name in headers);
  for (let left = ATTEMPTS; ; left--) {
    const metadata = await lookAt(files, path, signal);
    if (!hasChanged(headers, path, metadata))
      return reply
        .code(304)
        .headers(fileHeaders(path, metadata, download))
        .send();
    // Several parts of what changes all the time are never of one content: then it comes whole.
    const parts = left === 1 && !conditional ? null : wantedParts(headers, path, metadata, reply);
    const pinned = (conditional && metadata.size_bytes > 0) || (parts !== null && parts.length > 1);
    const if_match = pinned ? (metadata.etag ?? undefined) : undefined;
    try {
      if (parts === null) return await sendWhole(reply, wanted, await files.readFile(path, { if_match, reuse: true, signal }));
      return await sendParts(reply, files, wanted, parts, if_match);
    } catch (error) {
      if (!(error instanceof GatewayError && error.code === 'precondition_failed' && left > 1)) throw error;
    }
  }
}

async function sendWhole(reply: FastifyReply, { path, download, signal }: Wanted, content: FileContent): Promise<FastifyReply> {
  const { length, metadata, body } = content;
  const headers = { ...fileHeaders(path, metadata, download), ...(length === null ? {} : { 'content-length': String(length) }) };
  try {
    return await sendContent(reply, { status: 200, headers, body: await begun(body) }, signal);
  } finally {
    await content.close();
  }
}

/** Sends parts of one content: those after the first are read only as long as it is the same. */
async function sendParts(reply: FastifyReply, files: ExecutorFileSystem, wanted: Wanted, parts: ByteRange[], if_match?: string) {
  const { path, download, signal } = wanted;
  const read = ({ first, last }: ByteRange, if_match?: string) =>
    files.readFile(path, { offset: first, length: last - first + 1, if_match, reuse: true, signal });
  const [one] = parts as [ByteRange];
  const content = await read(one, if_match);
  if (content.length === null) {
    // A file of /sys says a size, and holds another number of bytes: it has no parts.
    await content.close();
    return sendWhole(reply, wanted, await files.readFile(path, { reuse: true, signal }));
  }
  const { metadata } = content;
  const size = metadata.size_bytes;
  const headers = fileHeaders(path, metadata, download);
  try {
    const body = await begun(content.body);
    if (parts.length === 1)
      return await sendContent(reply, { status: 206, headers: { ...headers, ...rangeHeaders(one, content) }, body }, signal);
    const rest = async (part: ByteRange) => (await read(part, metadata.etag ?? undefined)).body;
    const whole = multipart(parts, headers['content-type'] as string, size, async function* (part) {
      yield* part === one ? body : await rest(part);
    });
    const own = { 'content-type': whole.content_type, 'content-length': String(whole.length) };
    return await sendContent(reply, { status: 206, headers: { ...headers, ...own }, body: whole.body }, signal);
  } finally {
    await content.close();
  }
}

/** Of the part that was opened, which is shorter than the one asked for when the file has shrunk since. */
function rangeHeaders({ first, last }: ByteRange, { length, metadata }: FileContent): Record<string, string> {
  const bytes = length ?? last - first + 1;
  return { 'content-range': `bytes ${first}-${first + bytes - 1}/${metadata.size_bytes}`, 'content-length': String(bytes) };
}

/** What stands at a path, which must be a regular file. */
async function lookAt(files: ExecutorFileSystem, path: FilePath, signal: AbortSignal | undefined): Promise<FileMetadata> {
  const metadata = await files.getMetadata(path, { follow_symlinks: true, signal });
  const named = path.path ?? path.path_base64;
  const shown = JSON.stringify(named?.slice(0, 200));
  if (metadata.type === 'file') return metadata;
  if (metadata.type === 'directory') throw refused('is_a_directory', `${shown} is a directory: list it at /fs/directory.`, path);
  throw refused('not_regular_file', `${shown} is a ${metadata.type}: only regular files can be read.`, path);
}

/**
 * Whether the caller needs the content; false when it has this very content already.
 * @throws {GatewayError} `precondition_failed`, `invalid_request`
 */
function hasChanged(headers: ConditionHeaders, path: FilePath, { etag, modified_at }: FileMetadata): boolean {
  const verdict = judge(headers, { etag: etag ?? '', modified_ms: Date.parse(modified_at) });
  if (verdict !== 'failed') return verdict === 'send';
  const detail = 'The file is not what If-Match or If-Unmodified-Since asks for: look at it again.';
  throw new GatewayError('precondition_failed', detail, { ...pathField(path), ...(etag === null ? {} : { etag }) });
}

/** The parts to send, or null for the whole file. */
function wantedParts(headers: Wanted['headers'], path: FilePath, metadata: FileMetadata, reply: FastifyReply): ByteRange[] | null {
  const { size_bytes, etag } = metadata;
  // A file of /proc says that it is empty; where its parts are shows only when it is read.
  if (headers.range === undefined || size_bytes === 0 || !rangeCounts(headers, etag ?? '')) return null;
  const parts = byteRanges(headers.range, size_bytes);
  if (parts === null || parts.length > 0) return parts;
  reply.header('content-range', `bytes */${size_bytes}`);
  const detail = `The file has ${size_bytes} bytes: no part of it is in the range ${JSON.stringify(headers.range.slice(0, 60))}.`;
  throw new GatewayError('range_not_satisfiable', detail, { ...pathField(path), size_bytes });
}

function refused(code: 'is_a_directory' | 'not_regular_file', detail: string, path: FilePath): GatewayError {
  return new GatewayError(code, detail, pathField(path));
}

function pathField({ path }: FilePath): { path?: string } {
  return path === undefined ? {} : { path };
}

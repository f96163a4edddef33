import fc from 'fast-check';
import { type Call, flag, odd, oneOf, rarely, seq, sparse, wait, word } from './fuzz-values.js';

const NAMES = ['a', 'b', 'dir', 'dir/a', 'dir/deep/b', 'link', 'out', 'fifo', 'dangling'];

/** Paths that are there now and then, paths that never are, and paths that lead out. */
const path = rarely(
  fc.constantFrom(...NAMES),
  fc.oneof(odd, fc.constantFrom('.', '..', '/', '/etc/passwd', '../x', 'dir/..', 'dir/', 'a/', './/a', '%2e%2e', 'x'.repeat(300))),
  4,
);
const path_base64 = rarely(
  path.map((text) => Buffer.from(text).toString('base64')),
  odd,
  4,
);
const mode = oneOf('644', '755', '4755', '0');
const boolean = fc.boolean();
const places = {
  source_path: rarely(fc.constantFrom('a', 'dir/a', 'link'), path, 2),
  destination_path: rarely(
    fc.nat(9999).map((i) => `new/${i}`),
    path,
    2,
  ),
};
const rare = { source_path_base64: path_base64, destination_path_base64: path_base64, overwrite: boolean, recursive: boolean };
const at = { path };

/** Headers that files look at. */
export const FILE_HEADERS = {
  range: fc.constantFrom('bytes=0-1', 'bytes=-2', 'bytes=1-', 'bytes=0-0,2-2', 'bytes=900-', 'bytes=x', 'lines=1-2'),
  'if-match': fc.constantFrom('*', '"x"', 'x'),
  'if-none-match': fc.constantFrom('*', '"x"', 'W/"x", "y"', '"'),
  'if-range': fc.constantFrom('"x"', 'Thu, 15 Jan 2026 09:30:00 GMT'),
  'if-modified-since': fc.constantFrom('Thu, 15 Jan 2026 09:30:00 GMT', 'Thu, 15 Jan 2099 09:30:00 GMT', 'soon'),
  'if-unmodified-since': fc.constantFrom('Thu, 15 Jan 2026 09:30:00 GMT', 'Thu, 15 Jan 2099 09:30:00 GMT', 'soon'),
  'content-range': fc.constant('bytes 0-1/2'),
  'content-encoding': fc.constantFrom('identity', 'gzip', 'zstd', 'br'),
};

/** The calls of files. */
export const FILE_CALLS: Call[] = [
  { method: 'GET', path: '/fs/file', required: at, query: { path_base64, download: flag } },
  { method: 'HEAD', path: '/fs/file', required: at, query: { path_base64, download: flag } },
  { method: 'PUT', path: '/fs/file', raw: true, required: at, query: { mode, create_parents: flag } },
  { method: 'PUT', path: '/fs/file', raw: true, required: { path_base64 }, query: { mode, create_parents: flag } },
  { method: 'GET', path: '/fs/metadata', required: at, query: { follow_symlinks: flag } },
  {
    method: 'GET',
    path: '/fs/directory',
    required: { path: rarely(fc.constantFrom('.', 'dir'), path, 2) },
    query: { depth: seq, limit: seq, cursor: word },
  },
  { method: 'PUT', path: '/fs/directory', required: at, query: { recursive: flag, mode } },
  { method: 'DELETE', path: '/fs/entry', required: at, query: { recursive: flag, force: flag } },
  { method: 'POST', path: '/fs/copy', body: sparse(places, rare), query: {} },
  { method: 'POST', path: '/fs/move', body: sparse(places, rare), query: {} },
  { method: 'GET', path: '/fs/archive', required: at, query: { path_base64 } },
  { method: 'PUT', path: '/fs/archive', raw: true, required: at, query: { create_parents: flag } },
  {
    method: 'GET',
    path: '/fs/search',
    required: at,
    query: {
      glob: oneOf('*', '**/a', '{a,b}', '['),
      text: oneOf('x', '(', '.*'),
      regex: flag,
      ignore_case: flag,
      gitignore: flag,
      limit: seq,
      timeout_ms: wait,
    },
  },
  {
    method: 'GET',
    path: '/fs/watch',
    required: { path: rarely(fc.constantFrom('.', 'dir'), path, 2) },
    query: { recursive: flag, after_id: word },
  },
  { method: 'POST', path: '/fs/uploads', raw: true, required: at, query: { mode, create_parents: flag } },
];

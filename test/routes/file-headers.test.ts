import { mimes } from 'mrmime';
import { describe, expect, test } from 'vitest';
import { attachment, contentType, fileHeaders } from '../../src/routes/file-headers.js';

const METADATA = {
  type: 'file' as const,
  size_bytes: 1,
  mode: 0o644,
  uid: 0,
  gid: 0,
  modified_at: '2026-01-15T09:30:00.999Z',
  created_at: null,
  etag: '"a"',
  target: null,
  target_base64: null,
};

test.each([
  ['a.txt', 'text/plain; charset=utf-8'],
  ['A.HTML', 'text/html; charset=utf-8'],
  ['a.json', 'application/json'],
  ['a.svg', 'image/svg+xml'],
  ['a.tar.gz', 'application/gzip'],
  ['a.js', 'text/plain; charset=utf-8'],
  ['a.MJS', 'text/plain; charset=utf-8'],
  ['a.ecma', 'text/plain; charset=utf-8'],
  ['a.css', 'text/plain; charset=utf-8'],
  ['a.wasm', 'application/octet-stream'],
  ['a.ts', 'text/plain; charset=utf-8'],
  ['a.png', 'image/png'],
  ['Makefile', 'application/octet-stream'],
  ['.txt', 'application/octet-stream'],
  ['a.', 'application/octet-stream'],
  ['a.constructor', 'application/octet-stream'],
  ['', 'application/octet-stream'],
])('%s is %s', (name, type) => {
  expect(contentType(name)).toBe(type);
});

/** Types by which a browser loads a script (https://mimesniff.spec.whatwg.org/#javascript-mime-type), a style sheet, or a module of another kind. */
const CODE = /^(text|application)\/(x-)?(javascript|ecmascript)|^text\/(javascript1\.[0-5]|jscript|livescript|css)|^application\/wasm/;

/** Types that are documents in a browser, or in what it hands them to. */
const ACTIVE = /html|xml|svg|pdf|rfc822|manifest|java|shockwave|x-sh|vcard|calendar/;

test('of all names that are known none is of a type that a page loads as code, and none that may be run is shown', () => {
  const told = Object.keys(mimes).map((extension) => fileHeaders({ path: `/a.${extension}` }, METADATA, false));
  expect(told.length).toBeGreaterThan(300);
  expect(told.filter((headers) => CODE.test(headers['content-type'] as string))).toEqual([]);
  const shown = told.filter((headers) => headers['content-disposition'] === undefined).map((headers) => headers['content-type'] as string);
  expect(shown.filter((type) => ACTIVE.test(type))).toEqual([]);
});

test.each(['a.txt', 'a.log', 'a.ts', 'a.json', 'a.md', 'a.csv', 'a.yml', 'a.png', 'a.jpg', 'a.webp', 'a.mp3', 'a.mp4', 'Makefile'])(
  '%s is shown',
  (name) => {
    expect(fileHeaders({ path: name }, METADATA, false)['content-disposition']).toBeUndefined();
  },
);

test.each([
  'a.html',
  'A.HTM',
  'a.xhtml',
  'a.svg',
  'a.svgz',
  'a.xml',
  'a.xsl',
  'a.atom',
  'a.pdf',
  'a.js',
  'a.mjs',
  'a.css',
  'a.wasm',
  'a.webmanifest',
])('%s is saved', (name) => {
  expect(fileHeaders({ path: name }, METADATA, false)['content-disposition']).toBe(`attachment; filename="${name}"`);
});

describe('attachment', () => {
  test.each([
    ['a b.txt', 'attachment; filename="a b.txt"'],
    ['q"q.txt', 'attachment; filename="q_q.txt"; filename*=UTF-8\'\'q%22q.txt'],
    ['100%.txt', 'attachment; filename="100_.txt"; filename*=UTF-8\'\'100%25.txt'],
    ['ü.txt', 'attachment; filename="_.txt"; filename*=UTF-8\'\'%C3%BC.txt'],
    ["it's (1)*.txt", 'attachment; filename="it\'s (1)*.txt"'],
    ["é's.txt", "attachment; filename=\"_'s.txt\"; filename*=UTF-8''%C3%A9%27s.txt"],
    ['a\r\nb', 'attachment; filename="a__b"; filename*=UTF-8\'\'a%0D%0Ab'],
  ])('%j', (name, header) => {
    expect(attachment(name)).toBe(header);
  });
});

test('the name is the last one of the path, whatever form it comes in', () => {
  const disposition = (path: string) => fileHeaders({ path }, METADATA, true)['content-disposition'];
  expect(['/a/b.txt', 'b.txt', 'a//b.txt'].map(disposition)).toEqual(Array(3).fill('attachment; filename="b.txt"'));
  const odd = Buffer.from([0x64, 0x2f, 0xff, 0x2e, 0x70, 0x6e, 0x67]).toString('base64');
  expect(fileHeaders({ path_base64: odd }, METADATA, true)).toMatchObject({
    'content-type': 'image/png',
    'content-disposition': 'attachment; filename="_.png"; filename*=UTF-8\'\'%EF%BF%BD.png',
    'last-modified': 'Thu, 15 Jan 2026 09:30:00 GMT',
    etag: '"a"',
  });
});

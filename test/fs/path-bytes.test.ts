import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pathBytes, pathNames } from '../../src/fs/path-bytes.js';
import type { FilePath } from '../../src/protocol/index.js';

const code = (path: FilePath) => {
  try {
    return pathBytes(path).toString();
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test.each<[FilePath, string]>([
  [{ path: 'a/b' }, 'a/b'],
  [{ path: 'ü %2e%2e/+' }, 'ü %2e%2e/+'],
  [{ path_base64: 'YS9i' }, 'a/b'],
  [{}, 'invalid_request'],
  [{ path: 'a', path_base64: 'YQ==' }, 'invalid_request'],
  [{ path: '' }, 'invalid_path'],
  [{ path_base64: '' }, 'invalid_path'],
  [{ path: 'a\0b' }, 'invalid_path'],
  [{ path_base64: 'YQBi' }, 'invalid_path'],
  [{ path: '\ud800' }, 'invalid_path'],
  [{ path_base64: 'YQ' }, 'invalid_argument'],
  [{ path: 'a'.repeat(4096) }, 'path_too_long'],
  [{ path: '/a'.repeat(2048) }, 'path_too_long'],
])('%o is %s', (path, expected) => {
  expect(code(path)).toBe(expected);
});

test('a path that is not UTF-8 keeps its bytes', () => {
  expect([...pathBytes({ path_base64: Buffer.from([0x61, 0xff, 0x2f, 0x80]).toString('base64') })]).toEqual([0x61, 0xff, 0x2f, 0x80]);
});

test('names are what is between slashes', () => {
  const byte = fc.constantFrom(0x2f, 0x2e, 0x61, 0xff);
  fc.assert(
    fc.property(fc.array(byte), (bytes) => {
      const names = pathNames(Buffer.from(bytes)).map((name) => name.toString('latin1'));
      expect(names).toEqual(
        Buffer.from(bytes)
          .toString('latin1')
          .split('/')
          .filter((name) => name !== ''),
      );
    }),
  );
});

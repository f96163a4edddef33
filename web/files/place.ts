import type { DirectoryEntry, FilePath } from '../../src/client/index.js';
import { decodeBase64, encodeBase64 } from '../../src/protocol/base64.js';

/** One name of a path. Where it is not UTF-8 its bytes are in `base64`, and `name` only shows it. */
interface PathName {
  name: string;
  base64: string | null;
}

/** Where something is: the names that lead there from the file root. */
export type Place = readonly PathName[];

/** The place as a call takes it, relative to the file root. */
export function filePath(place: Place): FilePath {
  if (place.every(({ base64 }) => base64 === null)) return { path: place.map(({ name }) => name).join('/') || '.' };
  const bytes = place.flatMap((name, index) => [...(index === 0 ? [] : [SLASH]), ...bytesOf(name)]);
  return { path_base64: encodeBase64(Uint8Array.from(bytes)) };
}

export const childOf = (place: Place, { name, name_base64 }: Pick<DirectoryEntry, 'name' | 'name_base64'>): Place => [
  ...place,
  { name, base64: name_base64 },
];

/** What is called so beside it. */
export const siblingOf = (place: Place, name: string): Place => childOf(place.slice(0, -1), { name, name_base64: null });

export const nameOf = (place: Place): string => place.at(-1)?.name ?? '/';

/** The address of a place: its bytes, escaped as addresses are. */
export const placeHref = (place: Place): string => `#/files${place.map((name) => `/${escaped(name)}`).join('')}`;

/** The place of an address, as it stands behind `#/files/`. */
export const placeOf = (raw: string): Place => raw.split('/').filter(Boolean).map(nameFrom);

/** The place of a path that somebody typed. */
export const typedPlace = (path: string): Place =>
  path
    .toWellFormed()
    .split('/')
    .filter(Boolean)
    .map((name) => ({ name, base64: null }));

const SLASH = 0x2f;

function bytesOf({ name, base64 }: PathName): Uint8Array {
  return base64 === null ? new TextEncoder().encode(name) : decodeBase64(base64);
}

function escaped(part: PathName): string {
  if (part.base64 === null) return encodeURIComponent(part.name);
  return Array.from(bytesOf(part), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

function nameFrom(raw: string): PathName {
  try {
    return { name: decodeURIComponent(raw), base64: null };
  } catch {
    const bytes: number[] = [];
    for (const [, hex, plain = ''] of raw.matchAll(/%([0-9a-f]{2})|([\s\S]+?)(?=%|$)/gi)) {
      if (hex === undefined) bytes.push(...new TextEncoder().encode(plain));
      else bytes.push(Number.parseInt(hex, 16));
    }
    return { name: new TextDecoder().decode(Uint8Array.from(bytes)), base64: encodeBase64(Uint8Array.from(bytes)) };
  }
}

import { decodedLength, type FilePath } from '../protocol/index.js';
import { filePath } from './file-uri.js';
import { invalidParams } from './rpc-error.js';

type Members = Record<string, unknown>;

/** Params of one request, read member by member; unknown members are passed over, null stands for an optional one that is absent. */
export class Params {
  readonly #members: Members;

  /** @throws {RpcError} for what is no object */
  constructor(value: unknown) {
    if (!isObject(value)) throw wrongType(value, 'a map');
    this.#members = value;
  }

  /** The member as it came, or undefined. */
  raw(name: string): unknown {
    return (Object.hasOwn(this.#members, name) ? this.#members[name] : undefined) ?? undefined;
  }

  /** The names of all members. */
  get names(): string[] {
    return Object.keys(this.#members);
  }

  has(name: string): boolean {
    return this.raw(name) !== undefined;
  }

  text(name: string): string {
    return aText(this.#required(name));
  }

  optionalText(name: string): string | undefined {
    return this.#optional(name, aText);
  }

  flag(name: string): boolean {
    return aFlag(this.#required(name));
  }

  /** @param fallback for a member that is absent */
  optionalFlag(name: string, fallback: boolean): boolean {
    return this.#optional(name, aFlag) ?? fallback;
  }

  count(name: string): number {
    return aCount(this.#required(name));
  }

  optionalCount(name: string): number | undefined {
    return this.#optional(name, aCount);
  }

  /** The bytes of a member in padded base64. */
  bytes(name: string): Buffer {
    return aChunk(this.#required(name));
  }

  optionalBytes(name: string): Buffer | undefined {
    return this.#optional(name, aChunk);
  }

  /** The path of a member that is a `file:` URI. */
  path(name: string): FilePath {
    return filePath(this.text(name));
  }

  optionalPath(name: string): FilePath | undefined {
    return this.#optional(name, (value) => filePath(aText(value)));
  }

  texts(name: string): string[] {
    return this.list(name, aText);
  }

  paths(name: string): FilePath[] {
    return this.list(name, (value) => filePath(aText(value)));
  }

  list<T>(name: string, read: (value: unknown) => T): T[] {
    const value = this.#required(name);
    if (!Array.isArray(value)) throw wrongType(value, 'a sequence');
    return value.map(read);
  }

  /** One of some words; the first is the default when `optional`. */
  word<const T extends string>(name: string, words: readonly T[], optional = false): T {
    const value = optional && !this.has(name) ? words[0] : this.text(name);
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    const expected = words.map((word) => `\`${word}\``).join(words.length > 2 ? ', ' : ' or ');
    throw invalidParams(`unknown variant \`${value}\`, expected ${words.length > 2 ? 'one of ' : ''}${expected}`);
  }

  /** A member of texts by name. */
  variables(name: string): Record<string, string> {
    const value = this.#required(name);
    if (!isObject(value)) throw wrongType(value, 'a map');
    return Object.fromEntries(Object.entries(value).map(([key, text]) => [key, aText(text)]));
  }

  params(name: string): Params {
    return new Params(this.#required(name));
  }

  optionalParams(name: string): Params | undefined {
    return this.#optional(name, (value) => new Params(value));
  }

  #required(name: string): unknown {
    if (!Object.hasOwn(this.#members, name)) throw invalidParams(`missing field \`${name}\``);
    return this.#members[name];
  }

  #optional<T>(name: string, read: (value: unknown) => T): T | undefined {
    const value = this.raw(name);
    return value === undefined ? undefined : read(value);
  }
}

const isObject = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);

function aText(value: unknown): string {
  if (typeof value === 'string') return value;
  throw wrongType(value, 'a string');
}

function aFlag(value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  throw wrongType(value, 'a boolean');
}

function aCount(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw typeof value === 'number' ? invalidParams('invalid number') : wrongType(value, 'u64');
}

/** The bytes of padded base64; null for what is none. */
export function base64Bytes(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  // Node passes over what is not base64: then there is less than the text says.
  return text.length % 4 === 0 && bytes.length === decodedLength(text) && !/[-_]/.test(text) ? bytes : null;
}

function aChunk(value: unknown): Buffer {
  const bytes = base64Bytes(aText(value));
  if (bytes) return bytes;
  throw invalidParams('Invalid base64: standard alphabet, padded.');
}

function wrongType(value: unknown, expected: string): Error {
  const got = value === null ? 'null' : Array.isArray(value) ? 'sequence' : typeof value === 'object' ? 'map' : typeof value;
  return invalidParams(`invalid type: ${got}, expected ${expected}`);
}

import { nameOf, type Schema } from './spec.js';

/** What a value may be, in words: `integer, 1 to 1,000`, `stdout | stderr`, `list of string, at most 64`. */
export function schemaText(schema: Schema): string {
  const { $ref, anyOf, type, items } = schema;
  if ($ref !== undefined) return nameOf($ref);
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(String).join(' | ');
  if (anyOf !== undefined) return [...new Set(anyOf.map(schemaText))].join(' | ');
  if (type === 'array') return withRange(items === undefined ? 'list' : `list of ${schemaText(items)}`, countRange(schema));
  if (type === 'string') return withRange(stringWord(schema), lengthRange(schema));
  return withRange(type ?? 'any value', range(schema.minimum, schema.maximum));
}

/** What is taken where nothing is given; null when that is not told. */
export function defaultText(schema: Schema): string | null {
  return schema.default === undefined ? null : String(schema.default);
}

function stringWord({ format, contentSchema }: Schema): string {
  if (format === 'binary') return 'bytes';
  if (contentSchema !== undefined) return 'stream';
  return format === undefined ? 'string' : `string (${format})`;
}

const withRange = (word: string, text: string) => (text === '' ? word : `${word}, ${text}`);

function lengthRange({ minLength, maxLength, pattern }: Schema): string {
  if (pattern !== undefined) return `like ${pattern}`;
  const text = range(minLength === 0 ? undefined : minLength, maxLength);
  return text === '' ? '' : `${text} characters`;
}

function countRange({ minItems, maxItems }: Schema): string {
  return range(minItems === 0 ? undefined : minItems, maxItems);
}

/** The largest integer that is exact in every JSON is no limit that anyone meets. */
function range(least: number | undefined, most: number | undefined): string {
  const top = most === Number.MAX_SAFE_INTEGER ? undefined : most;
  if (least !== undefined && top !== undefined) return `${count(least)} to ${count(top)}`;
  if (least !== undefined) return `at least ${count(least)}`;
  return top === undefined ? '' : `at most ${count(top)}`;
}

const count = (value: number) => value.toLocaleString('en');

import type { TSchema } from '@sinclair/typebox';
import { type ErrorCode, GatewayError } from '../protocol/error.js';
import { expected } from './explain.js';

/** How a number is written. */
const DIGITS = ', in decimal digits';

type Query = Record<string, string | string[] | undefined>;

/**
 * Turns the texts of a query string into the values its schema names, and nothing by guess: integers are plain decimal
 * digits, booleans are true or false, only arrays may repeat, and unknown parameters are refused.
 * @param others names of parameters that were taken before, to be told with those of the schema
 * @throws {GatewayError} `invalid_request`; `invalid_cursor` for `after_seq`
 */
export function queryValues(schema: TSchema, query: Query, others: string[] = []): Record<string, unknown> {
  const properties: Record<string, TSchema> = schema.properties;
  const values: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(query)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) throw unknownParameter(name, [...Object.keys(properties), ...others]);
    values[name] = value(name, property, text ?? '');
  }
  return values;
}

/**
 * A sequence number as text.
 * @throws {GatewayError} `invalid_cursor`
 */
export function cursorValue(field: string, text: string): number {
  const number = digits(text);
  if (number !== null) return number;
  throw fault('invalid_cursor', field, `an integer from 0 to ${Number.MAX_SAFE_INTEGER}${DIGITS}`, text);
}

function value(name: string, schema: TSchema, text: string | string[]): unknown {
  if (schema.type === 'array') return [text].flat();
  const code = name === 'after_seq' ? 'invalid_cursor' : 'invalid_request';
  if (Array.isArray(text)) {
    throw new GatewayError(code, `${name} is given ${text.length} times: give it once.`, { field: name });
  }
  if (name === 'after_seq') return cursorValue(name, text);
  if (schema.type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if (schema.type === 'string') return text;
  const number = schema.type === 'integer' ? digits(text) : null;
  if (number === null) throw fault(code, name, `${expected(schema, name)}${schema.type === 'integer' ? DIGITS : ''}`, text);
  return number;
}

function digits(text: string): number | null {
  const number = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(number) ? number : null;
}

function fault(code: ErrorCode, field: string, wanted: string, text: string): GatewayError {
  const got = text === '' ? 'nothing' : JSON.stringify(text.slice(0, 60));
  return new GatewayError(code, `${field} must be ${wanted}; got ${got}.`, { field });
}

function unknownParameter(name: string, allowed: string[]): GatewayError {
  const field = name.slice(0, 100);
  const known = allowed.length > 0 ? `known are: ${allowed.join(', ')}` : 'this address takes none';
  return new GatewayError('invalid_request', `The query parameter ${JSON.stringify(field)} is not known here; ${known}.`, {
    field,
    allowed,
  });
}

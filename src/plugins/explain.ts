import type { TSchema } from '@sinclair/typebox';
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors';
import { GatewayError } from '../protocol/error.js';
import { quoted } from '../protocol/quoted.js';

/** Characters of a refused value that are shown. */
const SHOWN = 60;

/** Turns the first fault of a value into an error that names the field, what is expected there, and what came. */
export function explain(error: ValueError): GatewayError {
  const { schema, path, value, type } = innermost(error);
  const field = fieldName(path);
  if (type === ValueErrorType.ObjectAdditionalProperties) return unknownField(field, schema);
  if (type === ValueErrorType.ObjectRequiredProperty) {
    return new GatewayError('invalid_request', `${field} is missing: it must be ${expected(schema, field)}.`, { field });
  }
  return new GatewayError('invalid_request', `${field} must be ${expected(schema, field)}; got ${shown(value)}.`, { field });
}

/** The error inside a union that the caller most likely means: that of the branch of the value's own type. */
function innermost(error: ValueError): ValueError {
  if (error.type !== ValueErrorType.Union || typeof error.value !== 'object' || error.value === null) return error;
  const branches = (error.schema.anyOf as TSchema[]).map((branch) => branch.type);
  const wanted = branches.indexOf(Array.isArray(error.value) ? 'array' : 'object');
  const inner = error.errors[wanted]?.First();
  return inner === undefined ? error : innermost(inner);
}

/** `/env_policy/exclude/0` as `env_policy.exclude[0]`. */
function fieldName(path: string): string {
  if (path === '') return 'the body';
  const parts = path.slice(1).split('/');
  return parts
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 100))
    .map((part, at) => (at === 0 ? part : /^\d+$/.test(part) ? `[${part}]` : `.${part}`))
    .join('');
}

function unknownField(field: string, schema: TSchema): GatewayError {
  const pattern = Object.keys(schema.patternProperties ?? {})[0];
  if (pattern !== undefined) {
    return new GatewayError('invalid_request', `${field} is not a name allowed here: it must match ${pattern}.`, { field });
  }
  const allowed = Object.keys(schema.properties ?? {});
  return new GatewayError('invalid_request', `${field} is not known here; known are: ${allowed.join(', ') || 'none'}.`, { field, allowed });
}

/** What a schema asks for, in words. */
export function expected(schema: TSchema, field: string): string {
  if (schema.enum) return `one of ${(schema.enum as string[]).map((word) => JSON.stringify(word)).join(', ')}`;
  if (schema.anyOf) return (schema.anyOf as TSchema[]).map((branch) => expected(branch, field)).join(', or ');
  switch (schema.type) {
    case 'integer':
      return `an integer from ${schema.minimum} to ${schema.maximum}${unit(field)}`;
    case 'string':
      return `a string${stringBounds(schema)}`;
    case 'array':
      return `an array of ${plural(schema.items)}${schema.minItems ? `, with at least ${schema.minItems}` : ''}${most(schema.maxItems, 'items')}`;
    case 'object':
      return objectWords(schema);
    case 'boolean':
      return 'true or false';
    default:
      return String(schema.type);
  }
}

function stringBounds(schema: TSchema): string {
  if (schema.pattern) return ` that matches ${schema.pattern}`;
  if (schema.maxLength === undefined) return schema.minLength ? ' that is not empty' : '';
  return ` of ${schema.minLength ?? 0} to ${schema.maxLength} characters`;
}

function objectWords(schema: TSchema): string {
  const fields = Object.keys(schema.properties ?? {});
  if (fields.length > 0) return `an object with ${fields.join(', ')}`;
  return `an object of strings${most(schema.maxProperties, 'entries')}`;
}

function plural(items: TSchema | undefined): string {
  return items?.type === 'string' ? 'strings' : 'values';
}

function most(limit: number | undefined, what: string): string {
  return limit === undefined ? '' : `, at most ${limit} ${what}`;
}

function unit(field: string): string {
  if (field.endsWith('_ms')) return ' (milliseconds)';
  return field.endsWith('_bytes') ? ' (bytes)' : '';
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'string') return quoted(value, SHOWN);
  return JSON.stringify(value) ?? 'nothing';
}

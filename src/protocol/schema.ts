import { type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';

/** A value or null: what is not known yet is null, never absent. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** An object that refuses unknown fields, so that a misspelt one is told and not ignored. */
export const Strict = <T extends TProperties>(properties: T, options: { description?: string; $id?: string } = {}): TObject<T> =>
  Type.Object(properties, { additionalProperties: false, ...options });

/** One of a fixed set of words, as a JSON Schema `enum`. */
export const Words = <const T extends string[]>(values: T, options: { description?: string; default?: T[number] } = {}) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: values, ...options });

/** An instant in RFC 3339, UTC, with milliseconds. */
export const Instant = (description: string) => Type.String({ format: 'date-time', description });

/** An integer the wire can carry exactly (0 to 2^53 - 1 unless bounded closer). */
export const Count = (description: string, options: { minimum?: number; maximum?: number; default?: number } = {}) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, ...options });

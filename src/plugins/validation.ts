import { type TSchema, TypeRegistry } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import type { FastifySchemaCompiler } from 'fastify';
import { GatewayError } from '../protocol/error.js';
import { explain } from './explain.js';
import type { GatewayApp } from './gateway-app.js';
import { queryValues } from './query-values.js';

/** Checks requests by their TypeBox schemas: no coercion, no defaults filled in, no field dropped. */
export function addValidation(app: GatewayApp): void {
  TypeRegistry.Set<TSchema & { enum: string[] }>('Unsafe', (schema, value) => schema.enum.includes(value as string));
  const ticketed = new Set<string>();
  app.addHook('onRoute', ({ url, config }) => void (config?.ticket && ticketed.add(url)));
  app.setValidatorCompiler<TSchema>((route) => compile(route, ticketed.has(route.url ?? '')));
  // Replies are made from typed values; their schemas describe them in the spec.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
}

/** @param takes_ticket whether the address can be asked with a ticket, which has been looked at before */
function compile(
  { schema, httpPart }: Parameters<FastifySchemaCompiler<TSchema>>[0],
  takes_ticket: boolean,
): ReturnType<FastifySchemaCompiler<TSchema>> {
  // When it is first asked: all of them together would take a tenth of the start.
  let compiled: ReturnType<typeof TypeCompiler.Compile> | undefined;
  const checked = (value: unknown) => {
    compiled ??= TypeCompiler.Compile(schema);
    const check = compiled;
    if (check.Check(value)) return { value };
    const error = check.Errors(value).First();
    return { error: error ? explain(error) : new GatewayError('invalid_request', 'The request does not have the documented shape.') };
  };
  // No body says the same as an empty one: that the fields are missing.
  if (httpPart === 'body') return (value) => checked(value ?? {});
  if (httpPart !== 'querystring') return checked;
  return (query) => {
    try {
      return checked(queryValues(schema, query, takes_ticket ? ['ticket'] : []));
    } catch (error) {
      return { error: error as Error };
    }
  };
}

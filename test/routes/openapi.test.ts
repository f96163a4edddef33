import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { SCHEMAS } from '../../scripts/openapi/components.js';
import { openapiDocument } from '../../scripts/openapi/document.js';
import { serverRoutes } from '../../scripts/openapi/routes.js';
import { ERRORS, type ErrorCode } from '../../src/protocol/error.js';

const SPEC = new URL('../../openapi.yaml', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };

type Json = Record<string, unknown>;
interface Parameter {
  name: string;
  in: string;
  description?: string;
  schema: Json;
}
interface SpecOperation {
  parameters?: (Parameter & { $ref?: string })[];
  requestBody?: { content: Record<string, { schema: Json }> };
  responses: Record<string, { $ref?: string }>;
}

test('openapi.yaml is what routes and schemas make it: npm run openapi writes it anew', async () => {
  const document = openapiDocument(await serverRoutes(), version);
  const text = stringify(document, { aliasDuplicateObjects: false, lineWidth: 120 });
  await expect(`# Made from the routes and schemas by "npm run openapi".\n${text}`).toMatchFileSnapshot(SPEC.pathname);
});

// Nothing below uses what writes the file.
describe('openapi.yaml and the server agree', async () => {
  const spec = parse(readFileSync(SPEC, 'utf8'));
  const operations = Object.entries(spec.paths as Record<string, Record<string, SpecOperation>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ key: `${method.toUpperCase()} ${path}`, operation })),
  );
  const routes = await serverRoutes();

  test('the same addresses and methods', () => {
    expect(operations.map(({ key }) => key).sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
  });

  test.each(operations)('$key takes the same parameters', ({ key, operation }) => {
    const route = routes.find(({ method, path }) => key === `${method} ${path}`)!;
    const declared = { path: plain(route.params?.properties ?? {}), query: plain(route.querystring?.properties ?? {}) };
    const described: Record<string, Json> = { path: {}, query: {} };
    for (const parameter of operation.parameters ?? []) {
      if (parameter.$ref === undefined) described[parameter.in]![parameter.name] = whole(parameter);
    }
    expect(described).toEqual(declared);
  });

  test.each(operations)('$key takes the same body', ({ key, operation }) => {
    const route = routes.find(({ method, path }) => key === `${method} ${path}`)!;
    const body = route.body as { content?: Record<string, { schema: object }> } | undefined;
    const declared = body?.content?.['application/json']?.schema ?? body;
    const described = operation.requestBody?.content['application/json']?.schema;
    expect(described && resolve(described)).toEqual(declared && plain(declared));
  });

  test.each(Object.entries(SCHEMAS))('the schema %s is the same', (name, schema) => {
    expect(resolve(spec.components.schemas[name])).toEqual(plain(schema));
  });

  test('every error of the table is described with its status, and no other', () => {
    const described = new Map<string, number>();
    for (const { operation } of operations) {
      for (const [status, response] of Object.entries(operation.responses)) {
        const { content } = resolve(response) as { content?: Record<string, { examples?: Json }> };
        for (const code of Object.keys(content?.['application/problem+json']?.examples ?? {})) described.set(code, Number(status));
      }
    }
    // No operation gives these: the one is about methods that are none, the others are told on a WebSocket.
    described.set('method_not_allowed', 405);
    described.set('read_only', 403);
    described.set('output_evicted', 410);
    const table = Object.entries(ERRORS).map(([code, [status]]) => [code, status]);
    const sorted = (rows: unknown[][]) => rows.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
    expect(sorted([...described])).toEqual(sorted(table));
    for (const code of described.keys()) expect(spec.info.description).toContain(`\`${code as ErrorCode}\``);
  });

  /** The schema of a parameter as a route has it: with the description inside. */
  function whole({ description, schema }: Parameter): unknown {
    if ('$ref' in schema) return resolve(schema);
    return description === undefined ? schema : { ...schema, description };
  }

  /** The same with every reference replaced by what it names. */
  function resolve(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value;
    if ('$ref' in value)
      return resolve(
        String(value.$ref)
          .split('/')
          .slice(1)
          .reduce((at, key) => at[key], spec),
      );
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
  }
});

function plain(schema: object): unknown {
  return JSON.parse(JSON.stringify(schema));
}

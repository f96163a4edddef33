import { readFileSync } from 'node:fs';

interface Spec {
  paths: Record<string, Record<string, { responses: Record<string, { $ref?: string }> }>>;
  components: { responses: Record<string, { content: Record<string, { examples: object }> }> };
}

const spec = JSON.parse(readFileSync(new URL('../../dist/openapi.json', import.meta.url), 'utf8')) as Spec;

const operations = Object.entries(spec.paths).map(([path, methods]) => ({
  matches: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  methods,
}));

/**
 * Fails when the served description of a call does not name an error it was answered with. What is asked of no operation may
 * be answered with any.
 */
export function mustBeDescribed(method: string, address: string, status: number, code: string): void {
  const path = address.split('?', 1)[0] as string;
  const operation = operations.find(({ matches }) => matches.test(path))?.methods[method.toLowerCase()];
  if (operation === undefined) return;
  const name = operation.responses[status]?.$ref?.split('/').pop() ?? '';
  const described = Object.keys(spec.components.responses[name]?.content['application/problem+json']?.examples ?? {});
  if (!described.includes(code)) throw new Error(`openapi.json does not say that ${method} ${path} answers ${status} ${code}.`);
}

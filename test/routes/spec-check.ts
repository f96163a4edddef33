import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { parse } from 'yaml';
import { ERRORS, type Problem } from '../../src/protocol/error.js';

/** A reply, whole or, for a stream that goes on, as far as it was read. */
export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer | null;
}

interface Media {
  schema: object;
}
interface SpecResponse {
  headers?: Record<string, unknown>;
  content?: Record<string, Media & { examples?: Record<string, unknown> }>;
}

const spec = parse(readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addFormat('binary', true);
ajv.addSchema(spec, 'spec');
const validators = new Map<string, ValidateFunction>();

const patterns = Object.keys(spec.paths).map((path) => ({
  path,
  matches: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** The path of the spec that an address belongs to. */
export function specPath(address: string): string | undefined {
  const path = address.split('?', 1)[0] as string;
  return patterns.find(({ matches }) => matches.test(path))?.path;
}

/** What is wrong with a reply by openapi.yaml; empty when nothing is. */
export function faults(method: string, address: string, reply: Reply): string[] {
  const path = specPath(address);
  const operation = path === undefined ? undefined : spec.paths[path][method.toLowerCase()];
  // Asked of no operation: an address or a method that is none, or a preflight.
  if (operation === undefined) return reply.status === 204 && method === 'OPTIONS' ? [] : problemFaults(method, reply);
  const at = `#/paths/${path?.replaceAll('/', '~1')}/${method.toLowerCase()}/responses/${reply.status}`;
  const described = operation.responses[reply.status];
  if (described === undefined) return [`status ${reply.status} is not described`];
  const found =
    described.$ref === undefined ? { response: described, pointer: at } : { response: follow(described.$ref), pointer: described.$ref };
  if (reply.status < 400) return responseFaults(found.response, found.pointer, reply, method);
  return [
    ...responseFaults(found.response, found.pointer, reply, method),
    ...problemFaults(method, reply),
    ...codeFaults(found.response, reply, method),
  ];
}

function responseFaults(response: SpecResponse, pointer: string, reply: Reply, method: string): string[] {
  const missing = Object.keys(response.headers ?? {}).flatMap((name) => headerFaults(name, reply));
  if (reply.status === 101) return missing; // what is described are the messages that follow
  if (response.content === undefined) return reply.body?.length ? [...missing, 'a body where none is described'] : missing;
  const type = String(reply.headers['content-type']).split(';', 1)[0] as string;
  if ('*/*' in response.content) return missing; // a file is what it is
  if (response.content[type] === undefined) return [...missing, `content type ${type} is not described`];
  if (!/[/+]json$/.test(type) || method === 'HEAD') return missing;
  const value: unknown = JSON.parse(String(reply.body));
  return [...missing, ...schemaFaults(`${pointer}/content/${type.replaceAll('/', '~1')}/schema`, value)];
}

/** The error of a reply is one of those that the spec gives for it. */
function codeFaults(response: SpecResponse, { body }: Reply, method: string): string[] {
  if (method === 'HEAD') return [];
  const { code } = JSON.parse(String(body)) as Problem;
  const described = Object.keys(response.content?.['application/problem+json']?.examples ?? {});
  return described.includes(code) ? [] : [`the error ${code} is not described; described are ${described.join(', ')}`];
}

/** A header that is there has the form described. */
function headerFaults(name: string, { headers }: Reply): string[] {
  const value = headers[name.toLowerCase()];
  if (value === undefined) return name === 'X-Request-Id' ? ['no X-Request-Id'] : [];
  // Node gives cookies as a list.
  return [value].flat().flatMap((one) => schemaFaults(`#/components/headers/${name}/schema`, one));
}

function problemFaults(method: string, { status, headers, body }: Reply): string[] {
  if (headers['content-type'] !== 'application/problem+json') return [`${status} with content type ${headers['content-type']}`];
  if (method === 'HEAD') return [];
  const problem = JSON.parse(String(body)) as Problem;
  const told = ERRORS[problem.code]?.[0];
  const wrong = problem.status === status && told === status ? [] : [`status ${status}, told as ${problem.status}, code ${problem.code}`];
  return [...wrong, ...schemaFaults('#/components/schemas/Problem', problem)];
}

/** What is wrong with a value by a schema of the spec. */
export function schemaFaults(pointer: string, value: unknown): string[] {
  let validate = validators.get(pointer);
  if (validate === undefined) {
    validate = ajv.compile({ $ref: `spec${encodeURI(pointer)}` });
    validators.set(pointer, validate);
  }
  if (validate(value)) return [];
  return [`${pointer}: ${ajv.errorsText(validate.errors)}`];
}

function follow(ref: string): SpecResponse {
  return ref
    .split('/')
    .slice(1)
    .reduce((at, key) => at[key.replaceAll('~1', '/')], spec);
}

/** A JSON Schema, as far as the spec uses it. */
export interface Schema {
  $ref?: string;
  type?: string;
  description?: string;
  const?: unknown;
  enum?: unknown[];
  default?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  items?: Schema;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  patternProperties?: Record<string, Schema>;
  contentSchema?: Schema;
}

/** A body of one media type. */
export interface Media {
  type: string;
  schema: Schema;
  example: unknown;
  /** Of an error, by its code. */
  examples: Record<string, { summary: string; value: unknown }>;
}

/** What a call takes besides its body. */
export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: string;
}

/** What a call may be answered with. */
export interface Reply {
  status: number;
  description: string;
  headers: { name: string; description: string }[];
  bodies: Media[];
}

/** One call of the gateway. */
export interface Call {
  /** Its operationId, and its address in the page. */
  id: string;
  /** In capitals. */
  method: string;
  /** With `{name}` for a parameter. */
  path: string;
  summary: string;
  description: string;
  /** Whether it asks for no sign-in. */
  open: boolean;
  /** Whether it takes a ticket. */
  ticket: boolean;
  parameters: Parameter[];
  /** By media type; empty for a call without a body. */
  bodies: Media[];
  body_required: boolean;
  replies: Reply[];
}

/** Calls that belong together. */
interface CallGroup {
  name: string;
  description: string;
  calls: Call[];
}

/** All that the gateway says of its calls. */
export interface Spec {
  version: string;
  summary: string;
  description: string;
  groups: CallGroup[];
  schemas: Record<string, Schema>;
}

/** Reads an OpenAPI document as gateways write it. What the parts of a call refer to is put in its place; schemas keep their names. */
export function readSpec(document: RawSpec): Spec {
  const { info, tags, paths, components } = document;
  const calls = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, raw]) => ({ tag: raw.tags[0], call: callOf(method, path, raw, components) })),
  );
  return {
    version: info.version,
    summary: info.summary,
    description: info.description,
    groups: tags.map((tag) => ({ ...tag, calls: calls.filter((one) => one.tag === tag.name).map(({ call }) => call) })),
    schemas: components.schemas,
  };
}

/** The schema itself, where it may be named. */
export function resolved(schema: Schema, schemas: Record<string, Schema>): Schema {
  const { $ref, ...more } = schema;
  return $ref === undefined ? schema : { ...schemas[nameOf($ref)], ...more };
}

/** The last part of a reference. */
export const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

type Ref<T> = T | { $ref: string };

interface RawMedia {
  schema: Schema;
  example?: unknown;
  examples?: Media['examples'];
}

interface RawReply {
  description: string;
  headers?: Record<string, Ref<{ description?: string }>>;
  content?: Record<string, RawMedia>;
}

interface RawCall {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security?: Record<string, unknown>[];
  parameters?: Ref<Parameter>[];
  requestBody?: { required?: boolean; content: Record<string, RawMedia> };
  responses: Record<string, Ref<RawReply>>;
}

interface Components {
  schemas: Record<string, Schema>;
  parameters: Record<string, Parameter>;
  headers: Record<string, { description?: string }>;
  responses: Record<string, RawReply>;
}

/** An OpenAPI document, as far as it is read here. */
export interface RawSpec {
  info: { version: string; summary: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, RawCall>>;
  components: Components;
}

function callOf(method: string, path: string, raw: RawCall, { parameters, headers, responses }: Components): Call {
  const { operationId, summary, description = '', security, requestBody } = raw;
  return {
    id: operationId,
    method: method.toUpperCase(),
    path,
    summary,
    description,
    open: security?.length === 0,
    ticket: security?.some((way) => 'ticket' in way) === true,
    parameters: (raw.parameters ?? []).map((parameter) => found(parameter, parameters)),
    bodies: mediaOf(requestBody?.content),
    body_required: requestBody?.required === true,
    replies: Object.entries(raw.responses).map(([status, reply]) => replyOf(status, found(reply, responses), headers)),
  };
}

function replyOf(status: string, reply: RawReply, shared: Components['headers']): Reply {
  const headers = Object.entries(reply.headers ?? {}).map(([name, header]) => ({
    name,
    description: found(header, shared).description ?? '',
  }));
  return { status: Number(status), description: reply.description, headers, bodies: mediaOf(reply.content) };
}

function mediaOf(content: Record<string, RawMedia> = {}): Media[] {
  return Object.entries(content).map(([type, { schema, example, examples = {} }]) => ({ type, schema, example, examples }));
}

function found<T extends object>(given: Ref<T>, shared: Record<string, T>): T {
  return '$ref' in given ? (shared[nameOf(given.$ref)] as T) : given;
}

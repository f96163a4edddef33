import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { inline } from './prose.js';
import { defaultText, schemaText } from './schema-text.js';
import { nameOf, resolved, type Schema } from './spec.js';

type Schemas = Record<string, Schema>;

/** The fields of an object, those of the objects in it on demand; of another value what it may be. */
export function SchemaView({ schema, schemas }: { schema: Schema; schemas: Schemas }): JSX.Element {
  const own = resolved(schema, schemas);
  const choices = objectsOf(own, schemas);
  if (own.properties === undefined && choices.length > 0) return <Choices choices={choices} schemas={schemas} />;
  const fields = Object.entries(own.properties ?? {});
  if (fields.length === 0) return <p class="hint mono">{schemaText(own)}</p>;
  return (
    <ul class="schema">
      {fields.map(([name, field]) => (
        <Field key={name} name={name} schema={field} required={own.required?.includes(name) === true} schemas={schemas} />
      ))}
    </ul>
  );
}

interface FieldProps {
  name: string;
  schema: Schema;
  required: boolean;
  schemas: Schemas;
}

function Field({ name, schema, required, schemas }: FieldProps): JSX.Element {
  const own = resolved(schema, schemas);
  const ends = defaultText(own);
  return (
    <li>
      <p class="schema-line">
        <code class="name">{name}</code>
        {required && <span class="needed">required</span>}
        <span class="type mono">{schemaText(schema.$ref === undefined ? schema : leaf(own, schema))}</span>
        {ends !== null && <span class="type mono">default {ends}</span>}
      </p>
      <p class="hint">{inline(descriptionOf(own, schemas))}</p>
      {objectsOf(own, schemas).map((part, index) => (
        <Inner key={index} word={part.$ref === undefined ? name : nameOf(part.$ref)} schema={part} schemas={schemas} />
      ))}
    </li>
  );
}

/** Of a value that may be null its part tells what it is. */
const descriptionOf = (own: Schema, schemas: Schemas): string =>
  own.description ?? own.anyOf?.map((part) => resolved(part, schemas).description).find((text) => text !== undefined) ?? '';

/** A named value that is no object is told by what it is. */
const leaf = (own: Schema, named: Schema) => (own.type === 'object' || own.anyOf !== undefined ? named : own);

/** The objects that a value is or holds. */
function objectsOf(schema: Schema, schemas: Schemas): Schema[] {
  const { items, anyOf, contentSchema, properties } = schema;
  if (properties !== undefined) return [schema];
  return [...(anyOf ?? []), ...(items === undefined ? [] : [items]), ...(contentSchema === undefined ? [] : [contentSchema])].flatMap(
    (part) => (resolved(part, schemas).properties === undefined ? objectsOf(resolved(part, schemas), schemas) : [part]),
  );
}

/** Several objects of which a value is one. */
function Choices({ choices, schemas }: { choices: Schema[]; schemas: Schemas }): JSX.Element {
  return (
    <div>
      {choices.map((choice, index) => (
        <Inner key={index} word={wordOf(choice, schemas)} schema={choice} schemas={schemas} />
      ))}
    </div>
  );
}

/** An object is known by its name, or by the fields that have one value. */
function wordOf(schema: Schema, schemas: Schemas): string {
  if (schema.$ref !== undefined) return nameOf(schema.$ref);
  const fixed = Object.entries(resolved(schema, schemas).properties ?? {}).find(([, field]) => 'const' in field);
  return fixed === undefined ? 'object' : `${fixed[0]}: ${String(fixed[1].const)}`;
}

function Inner({ word, schema, schemas }: { word: string; schema: Schema; schemas: Schemas }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <details class="inner" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Fields of {word}</summary>
      {open && <SchemaView schema={schema} schemas={schemas} />}
    </details>
  );
}

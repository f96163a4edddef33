import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { exampleText } from './call-request.js';
import { inline } from './prose.js';
import { schemaText } from './schema-text.js';
import { SchemaView } from './schema-view.js';
import type { Media, Reply, Schema } from './spec.js';

type Schemas = Record<string, Schema>;

/** What the call answers: first what goes well, then its errors by their codes. */
export function ReplyDocs({ replies, schemas }: { replies: Reply[]; schemas: Schemas }): JSX.Element {
  return (
    <>
      <section class="part" aria-labelledby="replies-title">
        <h2 id="replies-title">Replies</h2>
        {replies
          .filter(({ status }) => status < 400)
          .map((reply) => (
            <GoodReply key={reply.status} reply={reply} schemas={schemas} />
          ))}
      </section>
      <Errors replies={replies.filter(({ status }) => status >= 400)} />
    </>
  );
}

function GoodReply({ reply: { status, description, headers, bodies }, schemas }: { reply: Reply; schemas: Schemas }): JSX.Element {
  return (
    <div class="reply-doc">
      <h3>
        <span class="status good">{status}</span> {description}
      </h3>
      {bodies.map((media) => (
        <Body key={media.type} media={media} schemas={schemas} />
      ))}
      <details class="inner">
        <summary>Headers</summary>
        <dl class="headers">
          {headers.map((header) => (
            <div key={header.name}>
              <dt class="mono">{header.name}</dt>
              <dd>{inline(header.description)}</dd>
            </div>
          ))}
        </dl>
      </details>
    </div>
  );
}

function Body({ media, schemas }: { media: Media; schemas: Schemas }): JSX.Element {
  return (
    <>
      <p class="media">
        <code>{media.type}</code> <span class="type mono">{schemaText(media.schema)}</span>
      </p>
      <SchemaView schema={media.schema} schemas={schemas} />
      <Example text={exampleText(media)} />
    </>
  );
}

function Example({ text }: { text: string }): JSX.Element {
  return (
    <details class="inner">
      <summary>Example</summary>
      <pre class="code" tabindex={0}>
        {text}
      </pre>
    </details>
  );
}

function Errors({ replies }: { replies: Reply[] }): JSX.Element {
  return (
    <section class="part" aria-labelledby="errors-title">
      <h2 id="errors-title">Errors</h2>
      <ul class="error-docs">
        {replies.flatMap(({ status, bodies }) =>
          Object.entries(bodies[0]?.examples ?? {}).map(([code, { summary, value }]) => (
            <li key={code}>
              <ErrorDoc status={status} code={code} summary={summary} value={value} />
            </li>
          )),
        )}
      </ul>
    </section>
  );
}

/** An error opens to its problem document. */
function ErrorDoc({ status, code, summary, value }: { status: number; code: string; summary: string; value: unknown }): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <span class="status bad">{status}</span>
        <code>{code}</code>
        <span class="hint">{summary}</span>
      </summary>
      {open && (
        <pre class="code" tabindex={0}>
          {JSON.stringify(value, null, 2)}
        </pre>
      )}
    </details>
  );
}

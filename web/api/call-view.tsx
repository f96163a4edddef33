import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { BackToCalls } from './back-to-calls.js';
import { Method } from './method.js';
import { Prose } from './prose.js';
import { ReplyDocs } from './reply-docs.js';
import type { Call, Schema } from './spec.js';
import { TryIt } from './try-it.js';

/** One call: what it does, what it takes, what it answers, and a way to try it. It takes the focus, since it is what was asked for. */
export function CallView({ call, schemas }: { call: Call; schemas: Record<string, Schema> }): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <article class="call-view" aria-labelledby="call-title">
      <BackToCalls />
      <header>
        <h1 id="call-title" ref={heading} tabindex={-1}>
          {call.summary}
        </h1>
        <p class="call-address">
          <Method method={call.method} />
          <code>{call.path}</code>
        </p>
      </header>
      <Prose text={call.description} />
      {call.open && <p class="hint">Everyone may call this: it asks for no token.</p>}
      {call.ticket && <p class="hint">Takes a ticket of POST /tickets too, in place of the token.</p>}
      <TryIt call={call} schemas={schemas} />
      <ReplyDocs replies={call.replies} schemas={schemas} />
    </article>
  );
}

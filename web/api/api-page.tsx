import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { hrefOf } from '../route.js';
import { Icon } from '../ui/icon.js';
import { failureText } from '../ui/notices.js';
import { BackToCalls } from './back-to-calls.js';
import { ABOUT, CallList } from './call-list.js';
import { CallView } from './call-view.js';
import { loadSpec } from './load-spec.js';
import { Prose } from './prose.js';
import type { Spec } from './spec.js';

const spec = signal<Spec | null>(null);
const failure = signal<string | null>(null);

/** Every call of the gateway, to read and to try. It is made from what the gateway says of itself. */
export function ApiPage({ id }: { id: string }): JSX.Element {
  useEffect(load, []);
  if (failure.value !== null) {
    return (
      <section class="page">
        <p class="failure" role="alert">
          {failure.value}
        </p>
      </section>
    );
  }
  if (spec.value === null) return <p class="empty">Loading…</p>;
  return (
    <section class={id === '' ? 'page api-page listed' : 'page api-page'} aria-label="API reference">
      <CallList spec={spec.value} id={id} />
      <Content key={id} id={id} spec={spec.value} />
    </section>
  );
}

function Content({ id, spec }: { id: string; spec: Spec }): JSX.Element {
  if (id === '' || id === ABOUT) return <About spec={spec} />;
  const call = spec.groups.flatMap(({ calls }) => calls).find((one) => one.id === id);
  if (call !== undefined) return <CallView call={call} schemas={spec.schemas} />;
  return (
    <div class="empty">
      <Icon name="book" />
      <h1>No such call</h1>
      <a class="button" href={hrefOf('api')}>
        See all calls
      </a>
    </div>
  );
}

function About({ spec: { version, summary, description } }: { spec: Spec }): JSX.Element {
  return (
    <article class="call-view" aria-labelledby="api-title" tabindex={0}>
      <BackToCalls />
      <h1 id="api-title">API reference</h1>
      <p>
        {summary} Version {version}.
      </p>
      <p>
        Programs send <code>Authorization: Bearer TOKEN</code>. This page sends its session, with the CSRF token where something may change,
        as all of the dashboard does. The same is at <code>/openapi.json</code>, for generators of clients.
      </p>
      <Prose text={description} />
    </article>
  );
}

function load(): void {
  failure.value = null;
  loadSpec().then(
    (read) => {
      spec.value = read;
    },
    (error) => {
      failure.value = failureText(error);
    },
  );
}

import { signal } from '@preact/signals';
import { Fragment, type JSX } from 'preact';
import { goTo, hrefOf } from '../route.js';
import { Icon } from '../ui/icon.js';
import { Method } from './method.js';
import type { Call, Spec } from './spec.js';

/** The address of what holds for all calls; no call has this name. */
export const ABOUT = 'about';

/** What is searched for stays when a call is opened. */
const search = signal('');

/** All calls by their groups, to search. Enter opens the first that fits. */
export function CallList({ spec, id }: { spec: Spec; id: string }): JSX.Element {
  const groups = spec.groups
    .map((group) => ({ ...group, calls: group.calls.filter((call) => fits(call, search.value)) }))
    .filter(({ calls }) => calls.length > 0);
  const first = groups[0]?.calls[0];
  const found = groups.reduce((sum, { calls }) => sum + calls.length, 0);
  return (
    <nav class="call-list" aria-label="Calls">
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          if (first !== undefined) goTo('api', first.id);
        }}
      >
        <label class="search-field">
          <Icon name="search" />
          <span class="hidden">Search calls</span>
          <input
            type="search"
            placeholder="Search calls"
            value={search.value}
            onInput={(event) => {
              search.value = event.currentTarget.value;
            }}
          />
        </label>
        <p class="hidden" role="status">
          {search.value === '' ? '' : `${found} calls fit`}
        </p>
      </form>
      <div class="call-groups">
        <a class="call-link about" href={hrefOf('api', ABOUT)} aria-current={id === ABOUT || id === '' ? 'page' : undefined}>
          About the API
        </a>
        {groups.map(({ name, description, calls }) => (
          <section key={name} aria-label={name}>
            <h2 title={description}>{name}</h2>
            <ul>
              {calls.map((call) => (
                <li key={call.id}>
                  <CallLink call={call} current={call.id === id} />
                </li>
              ))}
            </ul>
          </section>
        ))}
        {found === 0 && <p class="hint none">No call fits.</p>}
      </div>
    </nav>
  );
}

function CallLink({ call: { id, method, path, summary }, current }: { call: Call; current: boolean }): JSX.Element {
  return (
    <a class="call-link" href={hrefOf('api', id)} aria-current={current ? 'page' : undefined}>
      <Method method={method} />
      <span class="what">
        <code>
          {path.split('/').map((part, index) => (
            <Fragment key={index}>
              {index > 0 && '/'}
              {part}
              <wbr />
            </Fragment>
          ))}
        </code>
        <small>{summary}</small>
      </span>
    </a>
  );
}

/** Every word has to be found. */
function fits({ method, path, summary, description, id, parameters }: Call, words: string): boolean {
  const text = [method, path, summary, id, description, ...parameters.map(({ name }) => name)].join('\n').toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

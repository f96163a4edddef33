import { computed, signal } from '@preact/signals';
import type { JSX } from 'preact';
import { now } from '../clock.js';
import { countText } from '../format.js';
import { Icon } from '../ui/icon.js';
import { askStart } from './actions.js';
import { type Filter, filterCounts, type ProcessQuery, queryProcesses } from './process-query.js';
import { changes, loaded, processes } from './process-store.js';
import { ProcessTable } from './process-table.js';

const query = signal<ProcessQuery>({ filter: 'all', search: '', sort: 'started', descending: true });

/** All of them, anew with every change. */
const all = computed(() => ({ change: changes.value, list: [...processes.values()] }));
const counts = computed(() => filterCounts(all.value.list));
const shown = computed(() => queryProcesses(all.value.list, query.value, now.peek()));

const FILTERS: [Filter, string][] = [
  ['all', 'All'],
  ['running', 'Running'],
  ['ended', 'Ended'],
  ['failed', 'Failed'],
];

/** All processes, to search, sort and open. */
export function ProcessesPage(): JSX.Element {
  return (
    <section class="page processes-page" aria-labelledby="processes-title">
      <header class="page-head">
        <h1 id="processes-title">Processes</h1>
        <button type="button" class="primary" onClick={askStart}>
          <Icon name="plus" />
          Start a process
        </button>
      </header>
      <Toolbar />
      {shown.value.length > 0 ? <ProcessTable processes={shown.value} query={query} /> : <Empty />}
    </section>
  );
}

function Toolbar(): JSX.Element {
  const set = (change: Partial<ProcessQuery>) => {
    query.value = { ...query.value, ...change };
  };
  return (
    <div class="toolbar">
      <label class="search-field">
        <Icon name="search" />
        <span class="hidden">Search processes</span>
        <input
          type="search"
          placeholder="Search commands, labels, ids, folders"
          value={query.value.search}
          onInput={(event) => set({ search: event.currentTarget.value })}
        />
      </label>
      <fieldset class="chips">
        <legend class="hidden">Show</legend>
        {FILTERS.map(([name, word]) => (
          <button key={name} type="button" class="chip" aria-pressed={query.value.filter === name} onClick={() => set({ filter: name })}>
            {word}
            <span class="count">{countText(counts.value[name])}</span>
          </button>
        ))}
      </fieldset>
    </div>
  );
}

function Empty(): JSX.Element {
  if (!loaded.value) return <p class="empty">Loading…</p>;
  if (processes.size > 0) return <p class="empty">No process matches.</p>;
  return (
    <div class="empty">
      <Icon name="terminal" />
      <p>Nothing has been started yet, or it ended a while ago.</p>
      <button type="button" onClick={askStart}>
        Start one
      </button>
    </div>
  );
}

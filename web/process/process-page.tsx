import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { ProcessInfo } from '../../src/client/index.js';
import { now } from '../clock.js';
import { bytesText, durationText, momentText } from '../format.js';
import { askAgain, askEnd, askSignal } from '../processes/actions.js';
import { changes, loaded, processes } from '../processes/process-store.js';
import { useUsage } from '../processes/process-usage.js';
import { commandOf, durationOf, exitSentence, isRunning, labelTexts, moodOf } from '../processes/process-view.js';
import { StateBadge } from '../processes/state-badge.js';
import { hrefOf } from '../route.js';
import { TerminalView } from '../terminal/terminal-view.js';
import { Icon } from '../ui/icon.js';
import { OutputView } from './output-view.js';

/** One process: what it is, what it says, and what can be done with it. */
export function ProcessPage({ process_id }: { process_id: string }): JSX.Element {
  void changes.value;
  const process = processes.get(process_id);
  if (process === undefined) return <Missing process_id={process_id} />;
  return (
    <section class="page process-page" aria-labelledby="process-title">
      <Head process={process} />
      <Facts process={process} />
      <Output process={process} />
    </section>
  );
}

/** Another process of the same id is another one. */
function Output({ process }: { process: ProcessInfo }): JSX.Element {
  const key = `${process.process_id} ${process.created_at}`;
  // A terminal that is drawn goes on drawing: it is not made anew when something of the process changes.
  const first = useMemo(() => ({ key, process }), [key]).process;
  return process.tty === null ? (
    <OutputView key={key} process={process} />
  ) : (
    <TerminalView key={key} process={first} runs={isRunning(process)} />
  );
}

function Missing({ process_id }: { process_id: string }): JSX.Element {
  if (!loaded.value) return <p class="empty">Loading…</p>;
  return (
    <section class="page">
      <div class="empty">
        <h1>No such process</h1>
        <p>
          <code>{process_id}</code> is not known to this gateway: it ended a while ago, or the gateway was started anew.
        </p>
        <a class="button" href={hrefOf('processes')}>
          All processes
        </a>
      </div>
    </section>
  );
}

function Head({ process }: { process: ProcessInfo }): JSX.Element {
  const open = process.state !== 'closed';
  return (
    <header class="page-head process-head">
      <a class="button quiet small" href={hrefOf('processes')} aria-label="All processes" title="All processes">
        <Icon name="back" />
      </a>
      <h1 id="process-title" class="mono" title={commandOf(process)}>
        {commandOf(process)}
      </h1>
      <span class="actions">
        {open && (
          <button type="button" onClick={() => askSignal(process)}>
            <Icon name="bolt" />
            Signal
          </button>
        )}
        <button type="button" onClick={() => askAgain(process)}>
          <Icon name="again" />
          Run again
        </button>
        {open && (
          <button type="button" class="danger" onClick={() => askEnd(process)}>
            <Icon name="stop" />
            End
          </button>
        )}
      </span>
    </header>
  );
}

function Facts({ process }: { process: ProcessInfo }): JSX.Element {
  const duration = durationOf(process, isRunning(process) ? now.value : 0);
  const { cpu, memory } = useUsage(process);
  const ofRunning = (text: string) => (isRunning(process) ? text || '–' : null);
  const facts: [string, string | number | null][] = [
    ['Started', process.started_at && momentText(process.started_at, now.peek())],
    ['Duration', duration === null ? null : durationText(duration)],
    ['pid', process.pid],
    ['Directory', process.cwd],
    ['Output', bytesText(process.total_bytes)],
    ['CPU', ofRunning(cpu)],
    ['Memory', ofRunning(memory)],
    ['id', process.process_id],
  ];
  return (
    <div class="facts">
      <StateBadge process={process} />
      {process.exit_code !== null && (
        <span class={`exit-sentence ${moodOf(process)}`} role="status">
          {exitSentence(process)}
        </span>
      )}
      <dl>
        {facts.map(
          ([name, value]) =>
            value !== null && (
              <div key={name} class={`fact-${name.toLowerCase()}`}>
                <dt>{name}</dt>
                <dd title={String(value)}>{value}</dd>
              </div>
            ),
        )}
      </dl>
      {labelTexts(process).map((text) => (
        <span key={text} class="label" title={text}>
          {text}
        </span>
      ))}
    </div>
  );
}

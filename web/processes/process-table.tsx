import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';
import type { ProcessInfo } from '../../src/client/index.js';
import { now } from '../clock.js';
import { bytesText, durationText, momentText } from '../format.js';
import { goTo, hrefOf } from '../route.js';
import { Icon } from '../ui/icon.js';
import { SortHeads } from '../ui/sort-heads.js';
import { useMedia } from '../ui/use-media.js';
import { VirtualList } from '../ui/virtual-list.js';
import { askAgain, askEnd } from './actions.js';
import type { ProcessQuery, SortKey } from './process-query.js';
import { useUsage } from './process-usage.js';
import { commandOf, durationOf, isRunning, labelTexts } from './process-view.js';
import { ExitBadge, StateBadge } from './state-badge.js';

const COLUMNS: [SortKey, string][] = [
  ['state', 'State'],
  ['command', 'Command'],
  ['started', 'Started'],
  ['duration', 'Duration'],
  ['exit', 'Exit'],
  ['output', 'Output'],
];

/** Where there is room for them. */
const USAGE_COLUMNS: [string, string][] = [
  ['cpu', 'CPU'],
  ['memory', 'Memory'],
];

/** Widths as in processes.css. */
const NARROW = window.matchMedia('(max-width: 760px)');
const WIDE = window.matchMedia('(min-width: 1180px)');

/** Heights of a row, in pixels, as in processes.css. */
const ROW_PX = 46;
const NARROW_ROW_PX = 78;

interface ProcessTableProps {
  processes: ProcessInfo[];
  query: Signal<ProcessQuery>;
}

/** The processes in rows; only those in sight are there. */
export function ProcessTable({ processes, query }: ProcessTableProps): JSX.Element {
  const narrow = useMedia(NARROW);
  const wide = useMedia(WIDE);
  return (
    <div class="process-table" role="table" aria-label="Processes" aria-rowcount={processes.length + 1}>
      <VirtualList
        role="rowgroup"
        head={
          <SortHeads row="process-row" columns={COLUMNS} plain={wide ? USAGE_COLUMNS : []} query={query} ascending={['state', 'command']} />
        }
        count={processes.length}
        row_height={narrow ? NARROW_ROW_PX : ROW_PX}
        row={(index, top) => {
          const process = processes[index] as ProcessInfo;
          return <Row key={process.process_id} process={process} index={index} top={top} wide={wide} />;
        }}
      />
    </div>
  );
}

interface RowProps {
  process: ProcessInfo;
  index: number;
  top: number;
  wide: boolean;
}

function Row({ process, index, top, wide }: RowProps): JSX.Element {
  const duration = durationOf(process, isRunning(process) ? now.value : 0);
  const command = commandOf(process);
  const open = (event: MouseEvent) => {
    if (!(event.target as Element).closest('a, button') && window.getSelection()?.isCollapsed !== false)
      goTo('processes', process.process_id);
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: its link does the same by keyboard.
    <div class="process-row" role="row" aria-rowindex={index + 2} style={{ top: `${top}px` }} onClick={open}>
      <Cell name="state">
        <StateBadge process={process} />
      </Cell>
      <Cell name="command">
        <a href={hrefOf('processes', process.process_id)} title={command}>
          {command}
        </a>
        <span class="labels">
          {process.tty !== null && <span class="label kind">tty</span>}
          {labelTexts(process).map((text) => (
            <span key={text} class="label" title={text}>
              {text}
            </span>
          ))}
        </span>
      </Cell>
      <Cell name="started">{momentText(process.started_at ?? process.created_at, now.peek())}</Cell>
      <Cell name="duration">{duration === null ? '' : durationText(duration)}</Cell>
      <Cell name="exit">
        <ExitBadge process={process} />
      </Cell>
      <Cell name="output">{bytesText(process.total_bytes)}</Cell>
      {wide && <UsageCells process={process} />}
      <Cell name="actions">
        <Action process={process} command={command} />
      </Cell>
    </div>
  );
}

function UsageCells({ process }: { process: ProcessInfo }): JSX.Element {
  const { cpu, memory } = useUsage(process);
  return (
    <>
      <Cell name="cpu">{cpu}</Cell>
      <Cell name="memory">{memory}</Cell>
    </>
  );
}

function Cell({ name, children }: { name: string; children: preact.ComponentChildren }): JSX.Element {
  return (
    <span class={`cell ${name}`} role="cell">
      {children}
    </span>
  );
}

function Action({ process, command }: { process: ProcessInfo; command: string }): JSX.Element {
  const runs = process.state !== 'closed';
  return (
    <button
      type="button"
      class="quiet small"
      aria-label={`${runs ? 'End' : 'Run again'}: ${command.slice(0, 80)}`}
      title={runs ? 'End' : 'Run again'}
      onClick={() => (runs ? askEnd(process) : askAgain(process))}
    >
      <Icon name={runs ? 'stop' : 'again'} />
    </button>
  );
}

import type { JSX } from 'preact';
import type { ProcessInfo } from '../../src/client/index.js';
import { exitText, moodOf } from './process-view.js';

/** The state of a process in a word, and in a colour. */
export function StateBadge({ process }: { process: ProcessInfo }): JSX.Element {
  return (
    <span class={`badge ${moodOf(process)}`}>
      <span class="dot" aria-hidden="true" />
      {process.state}
    </span>
  );
}

/** How it ended: nothing before that. */
export function ExitBadge({ process }: { process: ProcessInfo }): JSX.Element | null {
  const text = exitText(process);
  return text === '' ? null : <span class={`exit-code ${moodOf(process)}`}>{text}</span>;
}

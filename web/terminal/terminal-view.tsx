import { effect } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { ProcessInfo } from '../../src/client/index.js';
import { copyText } from '../process/copy-text.js';
import { saveOutput } from '../process/save-output.js';
import { theme } from '../theme.js';
import { Icon } from '../ui/icon.js';
import { tell, tellFailure } from '../ui/notices.js';
import type { PageTerminal } from './terminal.js';
import { TerminalLine } from './terminal-line.js';

const DARK = window.matchMedia('(prefers-color-scheme: dark)');

/** The terminal of a process. What draws it is loaded with the first one. */
export function TerminalView({ process, runs }: { process: ProcessInfo; runs: boolean }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const terminal = useRef<PageTerminal | null>(null);
  const line = useMemo(() => new TerminalLine(process), [process]);
  useEffect(() => showTerminal(place.current as HTMLDivElement, line, terminal), [line]);
  const copy = () =>
    copyText(terminal.current?.text() ?? '').then(() => tell('The text of the terminal is on the clipboard.'), tellFailure);
  const save = () => saveOutput(process.process_id).catch(tellFailure);
  return (
    <div class="terminal-view">
      <div class="toolbar tight">
        <span class="hint" id="terminal-hint">
          {runs
            ? 'Keys go to the program; Shift+Escape leaves the terminal.'
            : 'The program has ended; this is what it left on the screen.'}
        </span>
        <span class="spring" />
        <button type="button" class="quiet small" aria-label="Copy" title="Copy what is selected, or all" onClick={copy}>
          <Icon name="copy" />
        </button>
        <button type="button" class="quiet small" aria-label="Download" title="Download all output" onClick={save}>
          <Icon name="download" />
        </button>
      </div>
      <section class="terminal-place mono" aria-label="Terminal" aria-describedby="terminal-hint">
        <div ref={place} class="terminal-room" />
      </section>
      <div class="output-foot">
        {line.trouble.value === null ? (
          <span class={line.finished.value ? 'state' : 'state live'}>{line.finished.value ? 'End of output' : 'Live'}</span>
        ) : (
          <span class="state trouble" role="alert">
            {line.trouble.value}
          </span>
        )}
      </div>
    </div>
  );
}

function showTerminal(place: HTMLDivElement, line: TerminalLine, shown: { current: PageTerminal | null }): () => void {
  let left = false;
  const recolor = () => shown.current?.recolor();
  const forget = effect(() => {
    void theme.value;
    recolor();
  });
  DARK.addEventListener('change', recolor);
  const show = async () => {
    const { PageTerminal } = await import('./terminal.js');
    if (left) return;
    const terminal = new PageTerminal(
      place,
      (input) => line.type(input),
      (size) => line.resize(size),
    );
    shown.current = terminal;
    terminal.focus();
    await line.run(terminal);
  };
  show().catch(tellFailure);
  return () => {
    left = true;
    forget();
    DARK.removeEventListener('change', recolor);
    line.stop();
    shown.current?.dispose();
    shown.current = null;
  };
}

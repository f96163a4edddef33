import type { JSX } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ProcessInfo } from '../../src/client/index.js';
import { bytesText, countText } from '../format.js';
import { Icon, type IconName } from '../ui/icon.js';
import { tell, tellFailure } from '../ui/notices.js';
import { copyText } from './copy-text.js';
import { textOf } from './log-text.js';
import { OutputFeed } from './output-feed.js';
import { OutputPane, type PaneControl } from './output-pane.js';
import { OutputSearch } from './output-search.js';
import { saveOutput } from './save-output.js';
import { StdinBox } from './stdin-box.js';

const WRAP_KEY = 'exec-gateway.wrap';

/** The output of a process with pipes, live, and a box to feed it. */
export function OutputView({ process }: { process: ProcessInfo }): JSX.Element {
  const { process_id } = process;
  const feed = useMemo(() => new OutputFeed(process_id), [process_id]);
  useEffect(() => {
    feed.begin('end');
    return () => feed.stop();
  }, [feed]);
  const [wrap, setWrap] = useState(localStorage.getItem(WRAP_KEY) !== 'off');
  const [wanted, setWanted] = useState('');
  const control = useRef<PaneControl>(null);
  const onEndWatched = useCallback((at_end: boolean) => feed.watchEnd(at_end), [feed]);
  const search = useSearch(feed, wanted);
  const [, redraw] = useState(0);
  const step = (forwards: boolean) => {
    const number = search?.step(forwards, control.current?.topLine() ?? 0) ?? null;
    if (number !== null) control.current?.toLine(number);
    redraw((count) => count + 1);
  };
  const turnWrap = () => {
    localStorage.setItem(WRAP_KEY, wrap ? 'off' : 'on');
    setWrap(!wrap);
  };
  return (
    <div class="output-view">
      <div class="toolbar tight">
        <SearchField wanted={wanted} setWanted={setWanted} search={search} step={step} />
        <span class="spring" />
        <Tools feed={feed} process_id={process_id} control={control} wrap={wrap} turnWrap={turnWrap} />
      </div>
      <OutputPane feed={feed} wrap={wrap} wanted={wanted} current={search?.current ?? -1} control={control} onEndWatched={onEndWatched} />
      <Foot feed={feed} />
      {process.stdin.open && <StdinBox feed={feed} />}
    </div>
  );
}

function useSearch(feed: OutputFeed, wanted: string): OutputSearch | null {
  const { log } = feed;
  const search = useMemo(() => (wanted === '' ? null : new OutputSearch(log, wanted)), [log, wanted]);
  void feed.version.value;
  search?.update();
  return search;
}

interface SearchFieldProps {
  wanted: string;
  setWanted: (wanted: string) => void;
  search: OutputSearch | null;
  step: (forwards: boolean) => void;
}

function SearchField({ wanted, setWanted, search, step }: SearchFieldProps): JSX.Element {
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Enter') step(!event.shiftKey);
    else if (event.key === 'Escape') setWanted('');
    else return;
    event.preventDefault();
  };
  return (
    <div class="find">
      <label class="search-field">
        <Icon name="search" />
        <span class="hidden">Search output</span>
        <input
          type="search"
          placeholder="Search output"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
          onKeyDown={keys}
        />
      </label>
      {search !== null && (
        <>
          <span class="count" role="status">
            {search.count === 0 ? 'none' : `${search.place === 0 ? '' : `${countText(search.place)} of `}${countText(search.count)} lines`}
          </span>
          <Tool icon="previous" label="Previous match" onClick={() => step(false)} />
          <Tool icon="next" label="Next match" onClick={() => step(true)} />
        </>
      )}
    </div>
  );
}

interface ToolsProps {
  feed: OutputFeed;
  process_id: string;
  control: { current: PaneControl | null };
  wrap: boolean;
  turnWrap: () => void;
}

function Tools({ feed, process_id, control, wrap, turnWrap }: ToolsProps): JSX.Element {
  const copy = () => copyText(textOf(feed.log)).then(() => tell('The output shown here is on the clipboard.'), tellFailure);
  const save = () =>
    saveOutput(process_id).then((missing) => {
      if (missing !== 0) tell(`${missing === null ? 'Some' : bytesText(missing)} of the output is no longer held and is not in the file.`);
    }, tellFailure);
  const toStart = () => {
    if (feed.log.first > 0 || feed.skipped) feed.begin('start');
    control.current?.toStart();
    feed.watchEnd(false);
  };
  const toEnd = () => {
    if (feed.waiting.value) feed.begin('end');
    control.current?.toEnd();
    feed.watchEnd(true);
  };
  return (
    <>
      <Tool icon="up" label="Go to the start" onClick={toStart} />
      <Tool icon="down" label="Go to the end" onClick={toEnd} />
      <Tool icon="wrap" label="Wrap lines" pressed={wrap} onClick={turnWrap} />
      <Tool icon="copy" label="Copy all" onClick={copy} />
      <Tool icon="download" label="Download" onClick={save} />
    </>
  );
}

interface ToolProps {
  icon: IconName;
  label: string;
  pressed?: boolean;
  onClick: () => void;
}

function Tool({ icon, label, pressed, onClick }: ToolProps): JSX.Element {
  return (
    <button type="button" class="quiet small" aria-label={label} title={label} aria-pressed={pressed} onClick={onClick}>
      <Icon name={icon} />
    </button>
  );
}

function Foot({ feed }: { feed: OutputFeed }): JSX.Element {
  void feed.version.value;
  const { log } = feed;
  const lines = log.end - log.first;
  const state = feed.waiting.value ? 'More has come: go to the end to read on.' : feed.finished.value ? 'End of output' : 'Live';
  return (
    <div class="output-foot">
      {feed.trouble.value === null ? (
        <span class={feed.finished.value ? 'state' : 'state live'}>{state}</span>
      ) : (
        <span class="state trouble" role="alert">
          {feed.trouble.value}
        </span>
      )}
      <span>
        {countText(lines)} {lines === 1 ? 'line' : 'lines'} · {bytesText(log.bytes)}
      </span>
    </div>
  );
}

import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { OutputFeed } from './output-feed.js';
import type { OutputLog } from './output-log.js';
import { RowText } from './row-text.js';
import { rowStarts, TextRows } from './text-rows.js';

/** Height of a row, in pixels, as in process.css. */
const ROW_PX = 18;

/** Room left of the text and right of it, in pixels, as in process.css. */
const GUTTER_PX = 56;

/** Keys that leave the end. */
const UPWARDS = new Set(['Home', 'PageUp', 'ArrowUp']);

/** Rows out of sight that are kept ready above and below. */
const SPARE = 12;

/** What a toolbar asks of the pane. */
export interface PaneControl {
  toLine(number: number): void;
  toStart(): void;
  toEnd(): void;
  /** The first line in sight. */
  topLine(): number;
}

interface OutputPaneProps {
  feed: OutputFeed;
  wrap: boolean;
  wanted: string;
  /** The line found last. */
  current: number;
  control: RefObject<PaneControl | null>;
  onEndWatched: (at_end: boolean) => void;
}

/** The lines in sight, however many there are. At the end it stays at the end. */
export function OutputPane({ feed, wrap, wanted, current, control, onEndWatched }: OutputPaneProps): JSX.Element {
  const pane = useRef<HTMLElement>(null);
  const [seen, setSeen] = useState({ top: 0, height: 400, cols: 80 });
  const at_end = useRef(true);
  const rows = useRows(feed.log, wrap ? seen.cols : Number.POSITIVE_INFINITY);
  void feed.version.value; // whatever is shown moves with it
  rows.update();

  useLayoutEffect(() => watchPane(pane.current as HTMLElement, at_end, setSeen, onEndWatched), [onEndWatched]);
  useLayoutEffect(() => {
    const element = pane.current as HTMLElement;
    if (at_end.current) element.scrollTop = element.scrollHeight;
  });
  useEffect(() => {
    const scrollTo = (row: number) => {
      (pane.current as HTMLElement).scrollTop = row * ROW_PX;
    };
    control.current = {
      toLine: (number) => scrollTo(Math.max(0, rows.rowOf(number) - 4)),
      toStart: () => {
        at_end.current = false;
        scrollTo(0);
      },
      toEnd: () => {
        at_end.current = true;
        scrollTo(rows.count);
      },
      topLine: () => rows.at(Math.floor((pane.current as HTMLElement).scrollTop / ROW_PX)).number,
    };
  }, [rows, control]);

  const first = Math.max(0, Math.min(Math.floor(seen.top / ROW_PX), rows.count) - SPARE);
  const last = Math.min(rows.count, Math.ceil((seen.top + seen.height) / ROW_PX) + SPARE);
  const visible = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  const width = wrap ? '100%' : `calc(${feed.log.longest}ch + ${GUTTER_PX + 24}px)`;
  return (
    <section ref={pane} class="output-pane mono" aria-label="Output" tabindex={0}>
      <div class="output-space" style={{ height: `${rows.count * ROW_PX}px`, minWidth: width }}>
        {visible.map((row) => (
          <OutputRow key={row + rows.cols} log={feed.log} rows={rows} row={row} wanted={wanted} current={current} />
        ))}
      </div>
    </section>
  );
}

function useRows(log: OutputLog, cols: number): TextRows {
  const rows = useRef<{ log: OutputLog; rows: TextRows } | null>(null);
  if (rows.current?.log !== log || rows.current.rows.cols !== cols) rows.current = { log, rows: new TextRows(log, cols) };
  return rows.current.rows;
}

interface OutputRowProps {
  log: OutputLog;
  rows: TextRows;
  row: number;
  wanted: string;
  current: number;
}

function OutputRow({ log, rows, row, wanted, current }: OutputRowProps): JSX.Element {
  const { number, part } = rows.at(row);
  const line = log.line(number);
  const starts = rows.cols === Number.POSITIVE_INFINITY ? [0] : rowStarts(line.text, rows.cols);
  const from = starts[part] ?? 0;
  const begins = part === 0 && !line.continued && (number === log.first || log.line(number - 1).stream !== line.stream);
  const mark = line.stream === 'stderr' && begins ? 'err' : '';
  return (
    <div class={`output-row ${line.kind} ${line.stream ?? ''} ${number === current ? 'current' : ''}`} style={{ top: `${row * ROW_PX}px` }}>
      <span class="gutter" data-mark={mark} />
      {line.stream === 'stderr' && part === 0 && <span class="hidden">stderr: </span>}
      <RowText line={line} from={from} to={starts[part + 1] ?? line.text.length} wanted={wanted} />
    </div>
  );
}

type Seen = { top: number; height: number; cols: number };

function watchPane(
  element: HTMLElement,
  at_end: RefObject<boolean>,
  setSeen: (seen: Seen) => void,
  onEndWatched: (at_end: boolean) => void,
): () => void {
  const cell = cellWidth(element);
  let last_top = 0;
  const look = () => {
    const { scrollTop: top, clientHeight: height, clientWidth, scrollHeight } = element;
    const below = scrollHeight - height - top;
    if (top > last_top && below <= ROW_PX) at_end.current = true;
    // Growing moves nothing up and shrinking leaves it at the end, so a hand did. The end begins a row early only downwards.
    else if (top < last_top && below > 1) at_end.current = false;
    last_top = top;
    onEndWatched(at_end.current === true);
    setSeen({ top, height, cols: Math.max(20, Math.floor((clientWidth - GUTTER_PX) / cell)) });
  };
  // The browser moves over some frames, and setting the place in one of them would end that: so it ends with the wish.
  const leaveEnd = () => {
    if (element.scrollHeight > element.clientHeight) at_end.current = false;
  };
  const onWheel = ({ deltaY, ctrlKey }: WheelEvent) => {
    if (deltaY < 0 && !ctrlKey) leaveEnd();
  };
  const onKey = ({ key }: KeyboardEvent) => {
    if (UPWARDS.has(key)) leaveEnd();
    // At once, however busy the browser is: what comes meanwhile would move the end away from where it scrolls to.
    if (key === 'Home') element.scrollTop = 0;
    if (key === 'End') {
      at_end.current = true;
      element.scrollTop = element.scrollHeight;
    }
  };
  const sizes = new ResizeObserver(look);
  sizes.observe(element);
  element.addEventListener('scroll', look, { passive: true });
  element.addEventListener('wheel', onWheel, { passive: true });
  element.addEventListener('keydown', onKey);
  return () => {
    sizes.disconnect();
    element.removeEventListener('scroll', look);
    element.removeEventListener('wheel', onWheel);
    element.removeEventListener('keydown', onKey);
  };
}

/** The width of a character, in pixels. */
function cellWidth(element: HTMLElement): number {
  const probe = document.createElement('span');
  probe.className = 'probe';
  probe.textContent = '0'.repeat(100);
  element.append(probe);
  const { width } = probe.getBoundingClientRect();
  probe.remove();
  return width / 100 || 8;
}

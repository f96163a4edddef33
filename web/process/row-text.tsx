import type { JSX } from 'preact';
import { PLAIN, type Style } from './ansi.js';
import type { Line, Span } from './output-log.js';
import { matchesIn } from './output-search.js';

/** A piece of a row: one look, found or not. */
interface Run {
  text: string;
  style: Style;
  found: boolean;
}

interface RowTextProps {
  line: Line;
  from: number;
  to: number;
  /** Text to mark. */
  wanted: string;
}

/** A part of a line with its colours, built from text alone. */
export function RowText({ line, from, to, wanted }: RowTextProps): JSX.Element {
  return (
    <>
      {runsOf(line, from, to, wanted).map(({ text, style, found }, index) => {
        const looks = found ? <mark>{text}</mark> : text;
        return style === PLAIN ? <span key={index}>{looks}</span> : <Styled key={index} style={style} looks={looks} />;
      })}
    </>
  );
}

function Styled({ style, looks }: { style: Style; looks: JSX.Element | string }): JSX.Element {
  const { fg, bg } = style.inverse ? { fg: style.bg ?? 'bg', bg: style.fg ?? 'fg' } : style;
  const names = (['bold', 'dim', 'italic', 'underline', 'strike'] as const).filter((name) => style[name]).map((name) => `t-${name}`);
  const own: Record<string, string> = {};
  if (fg !== null) color(fg, 'fg', 'color');
  if (bg !== null) color(bg, 'bg', 'backgroundColor');
  return (
    <span class={names.join(' ')} style={own}>
      {looks}
    </span>
  );

  function color(value: string, prefix: string, property: string): void {
    if (value.startsWith('#')) own[property] = value;
    else names.push(`${prefix}-${value}`);
  }
}

/** Cuts where the look changes, and where a match begins or ends. */
function runsOf(line: Line, from: number, to: number, wanted: string): Run[] {
  const spans: Span[] = line.spans ?? [];
  const matches = matchesIn(line.text, wanted);
  const inside = (at: number) => at > from && at < to;
  const cuts = [...spans.map(({ at }) => at), ...matches.flat()].filter(inside);
  const places = [...new Set([from, ...cuts, to])].sort((a, b) => a - b);
  return places.slice(0, -1).map((at, index) => ({
    text: line.text.slice(at, places[index + 1]),
    style: spans.findLast((span) => span.at <= at)?.style ?? PLAIN,
    found: matches.some(([begin, end]) => begin <= at && at < end),
  }));
}

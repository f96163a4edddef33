import type { JSX } from 'preact';
import { WINDOW_MS } from './metrics-history.js';
import type { Point, Series } from './series.js';

/** Units of the drawing, which is stretched to the room there is. */
const WIDTH = 300;
const HEIGHT = 80;
const MARGIN = 2;

/** A line of the last minutes, with the value it has come to. */
export function Chart({ series, points, now }: { series: Series; points: Point[]; now: number }): JSX.Element {
  const { title, text, least } = series;
  const values = points.flatMap(({ value }) => (value === null ? [] : [value]));
  const last = points.at(-1)?.value ?? null;
  const most = values.length === 0 ? null : Math.max(...values);
  const top = Math.max(least, (most ?? 0) * 1.15);
  const x = (at: number) => ((at - now + WINDOW_MS) / WINDOW_MS) * WIDTH;
  const y = (value: number) => HEIGHT - MARGIN - (value / top) * (HEIGHT - 2 * MARGIN);
  const lines = linesOf(points).map((line) => line.map(({ at, value }) => [x(at), y(value)] as const));
  const shown = last === null ? '–' : text(last);
  return (
    <figure class="chart" aria-label={title}>
      <figcaption>{title}</figcaption>
      <p class="chart-value">{shown}</p>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true" focusable="false">
        <path class="grid" d={`M0 ${HEIGHT / 2}H${WIDTH}M0 ${HEIGHT - 0.5}H${WIDTH}`} />
        {lines.map((line, index) => (
          <g key={index}>
            <path class="area" d={`${path(line)}V${HEIGHT}H${line[0]?.[0].toFixed(1)}Z`} />
            <path class="line" d={path(line)} />
          </g>
        ))}
      </svg>
      <p class="chart-scale">
        <span>3 min ago</span>
        <span>{most === null ? '' : `most ${text(most)}`}</span>
        <span>now</span>
      </p>
    </figure>
  );
}

/** The pieces between the holes. */
function linesOf(points: Point[]): { at: number; value: number }[][] {
  const lines: { at: number; value: number }[][] = [[]];
  for (const { at, value } of points) {
    if (value === null) lines.push([]);
    else lines.at(-1)?.push({ at, value });
  }
  return lines.filter(({ length }) => length > 0);
}

const path = (line: (readonly [number, number])[]) =>
  line.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');

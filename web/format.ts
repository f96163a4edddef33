const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** A size as people read it: `12 B`, `3.4 MiB`. */
export function bytesText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** A time span as people read it: `320 ms`, `4.2 s`, `3 min 5 s`, `2 h 4 min`, `3 d 2 h`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 10) return `${(ms / 1_000).toFixed(1)} s`;
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(' ');
}

/** A moment as people read it: the time of today, or day and time. */
export function momentText(instant: string, now: number): string {
  const moment = new Date(instant);
  const time = moment.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  if (moment.toDateString() === new Date(now).toDateString()) return time;
  return `${moment.toLocaleDateString([], { month: 'short', day: 'numeric' })} ${time}`;
}

/** A count as people read it: `2,000`. */
export const countText = (count: number): string => count.toLocaleString('en');

import { InvalidArgumentError } from 'commander';

const UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a time with its unit, such as `1.5s`, `90m` or `2h`; a bare number is milliseconds. */
export function duration(min_ms: number, max_ms: number): (text: string) => number {
  return (text) => {
    const [, number = '', unit = 'ms'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? [];
    const ms = Math.round(Number(number) * (UNITS[unit] as number));
    if (number !== '' && ms >= min_ms && ms <= max_ms) return ms;
    throw new InvalidArgumentError(
      `Give a time such as 500ms, 30s, 5m or 2h (a bare number is milliseconds), from ${min_ms} ms to ${max_ms} ms.`,
    );
  };
}

/** For a person: `12 s`, `5 min`, `3 h`, `2 d`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} d`;
}

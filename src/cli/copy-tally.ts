import type { Unpacked } from '../protocol/index.js';

/** What was copied. */
export type Tally = Unpacked;

/** Nothing yet. */
export const NOTHING: Tally = { files: 0, directories: 0, links: 0, bytes: 0 };

/** Two of them together. */
export const sum = (a: Tally, b: Tally): Tally => ({
  files: a.files + b.files,
  directories: a.directories + b.directories,
  links: a.links + b.links,
  bytes: a.bytes + b.bytes,
});

/** For a person: `3 files, 1 directory, 2.0 MiB in 0.3 s (6.7 MiB/s)`. */
export function tallyText({ files, directories, links, bytes }: Tally, duration_ms: number): string {
  const parts = [counted(files, 'file', 'files'), counted(directories, 'directory', 'directories'), counted(links, 'link', 'links')];
  const seconds = duration_ms / 1000;
  return `${[...parts.filter(Boolean), sizeText(bytes)].join(', ')} in ${seconds.toFixed(1)} s (${sizeText(bytes / Math.max(seconds, 0.001))}/s)`;
}

/** Bytes in the unit that suits them: `0 B`, `1.5 KiB`, `200.0 MiB`. */
export function sizeText(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
  let [size, unit] = [bytes, 0];
  for (; size >= 1024 && unit < units.length - 1; unit++) size /= 1024;
  return `${unit === 0 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

const counted = (count: number, one: string, many: string) => (count === 0 ? '' : `${count} ${count === 1 ? one : many}`);

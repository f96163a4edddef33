/** A part of a file: both ends are counted, from 0. */
export interface ByteRange {
  first: number;
  last: number;
}

/** Parts in one answer; more are answered with the whole file (RFC 9110 §14.2 lets a server do so: many small parts are a way to load it). */
const MAX_RANGES = 64;

/**
 * The parts a Range header asks for (RFC 9110 §14.1.2), in its order; those that touch or overlap are put together.
 * @param size of the file, in bytes
 * @returns null when the header is to be ignored: another unit, not well formed, or too many parts. Empty when no part of the file is meant.
 */
export function byteRanges(header: string, size: number): ByteRange[] | null {
  const set = /^bytes=(.*)$/i.exec(header)?.[1];
  if (set === undefined) return null;
  const specs = set.split(',').map((spec) => spec.trim());
  const parts: ByteRange[] = [];
  for (const spec of specs.filter((text) => text !== '')) {
    const [, from, to] = /^(\d*)-(\d*)$/.exec(spec) ?? [];
    if (from === undefined || to === undefined || (from === '' && to === '')) return null;
    if (from !== '' && to !== '' && Number(to) < Number(from)) return null;
    const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
    const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
    if (first <= last) parts.push({ first, last });
  }
  if (specs.join('') === '' || parts.length > MAX_RANGES) return null;
  return joined(parts);
}

function joined(parts: ByteRange[]): ByteRange[] {
  const kept: ByteRange[] = [];
  for (const part of parts) {
    let { first, last } = part;
    const touches = (other: ByteRange) => other.first <= last + 1 && first <= other.last + 1;
    for (let at = kept.findIndex(touches); at >= 0; at = kept.findIndex(touches)) {
      const [other] = kept.splice(at, 1) as [ByteRange];
      [first, last] = [Math.min(first, other.first), Math.max(last, other.last)];
    }
    kept.push({ first, last });
  }
  return kept;
}

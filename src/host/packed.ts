/** The fields that hold bytes, in whatever passes between a front and its host. */
const BYTE_FIELDS = ['chunk', 'stdout', 'stderr', 'paint'] as const;

type Fields = Record<string, unknown>;

/** A value whose bytes are taken out: as JSON, with the size of each in its place, and in their order. */
export interface Packed {
  json: string;
  bytes: Uint8Array[];
}

/** Takes the bytes out of a value, or of each item of a list. */
export function packed(value: unknown): Packed {
  const bytes: Uint8Array[] = [];
  const without = Array.isArray(value) ? value.map((item) => withoutBytes(item, bytes)) : withoutBytes(value, bytes);
  return { json: JSON.stringify(without ?? null), bytes };
}

function withoutBytes(value: unknown, bytes: Uint8Array[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Fields;
  let copy: Fields | null = null;
  for (const name of BYTE_FIELDS) {
    const held = fields[name];
    if (!(held instanceof Uint8Array)) continue;
    copy ??= { ...fields };
    copy[name] = held.length;
    bytes.push(held);
  }
  if (!Array.isArray(fields.chunks)) return copy ?? value;
  return { ...(copy ?? fields), chunks: fields.chunks.map((chunk) => withoutBytes(chunk, bytes)) };
}

/** What {@link packed} was given. Its bytes are part of those given here. */
export function unpacked(json: string, bytes: Uint8Array): unknown {
  const value = JSON.parse(json) as unknown;
  let at = 0;
  const take = (size: number) => {
    at += size;
    return bytes.subarray(at - size, at);
  };
  if (Array.isArray(value)) for (const item of value) putBytes(item, take);
  else putBytes(value, take);
  return value;
}

function putBytes(value: unknown, take: (size: number) => Uint8Array): void {
  if (typeof value !== 'object' || value === null) return;
  const fields = value as Fields;
  for (const name of BYTE_FIELDS) {
    const size = fields[name];
    if (typeof size === 'number') fields[name] = take(size);
  }
  if (Array.isArray(fields.chunks)) for (const chunk of fields.chunks) putBytes(chunk, take);
}

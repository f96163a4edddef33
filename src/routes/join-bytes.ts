/** More parts than this are copied together: the system takes them one by one. */
const MOST_PARTS = 16;

/** The chunks as few parts: views of those that lie one after the other in one buffer; a copy when they are many. */
export function gatherBytes(chunks: readonly Uint8Array[]): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (const chunk of chunks) {
    const last = parts.at(-1);
    if (last?.buffer === chunk.buffer && chunk.byteOffset === last.byteOffset + last.length) {
      parts[parts.length - 1] = new Uint8Array(chunk.buffer, last.byteOffset, last.length + chunk.length);
    } else if (parts.length === MOST_PARTS) return [Buffer.concat(chunks)];
    else parts.push(chunk);
  }
  return parts;
}

/** The chunks as one: a view where they lie one after the other in one buffer, as output mostly does; else a copy. */
export function joinBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const [first, ...rest] = chunks;
  if (first === undefined) return new Uint8Array(0);
  let end = first.byteOffset + first.length;
  for (const { buffer, byteOffset, length } of rest) {
    if (buffer !== first.buffer || byteOffset !== end) return Buffer.concat(chunks);
    end += length;
  }
  return new Uint8Array(first.buffer, first.byteOffset, end - first.byteOffset);
}

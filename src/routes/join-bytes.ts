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
  const parts = gatherBytes(chunks);
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
}

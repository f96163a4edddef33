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

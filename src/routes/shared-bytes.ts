/** Readers at the same place share a batch: what `encode` makes of one is made once, and kept as long as the batch. */
export function encodeOnce<Batch extends object>(encode: (batch: Batch) => Uint8Array): (batch: Batch) => Uint8Array {
  const encoded = new WeakMap<Batch, Uint8Array>();
  return (batch) => {
    let bytes = encoded.get(batch);
    if (bytes === undefined) {
      bytes = encode(batch);
      encoded.set(batch, bytes);
    }
    return bytes;
  };
}

/** Readers at the same place share a batch: what `encode` makes of one is made once, and kept as long as the batch. */
export function encodeOnce<Batch extends object, Form extends object>(encode: (batch: Batch) => Form): (batch: Batch) => Form {
  const encoded = new WeakMap<Batch, Form>();
  return (batch) => {
    let form = encoded.get(batch);
    if (form === undefined) {
      form = encode(batch);
      encoded.set(batch, form);
    }
    return form;
  };
}

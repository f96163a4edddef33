/**
 * A body whose first part is there: what fails before it is told as an error of its own, and not by a transfer that
 * breaks off.
 */
export async function begun(body: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const iterator = body[Symbol.asyncIterator]();
  let first: Promise<IteratorResult<Uint8Array>> | null = iterator.next();
  await first;
  const next = () => {
    const turn = first ?? iterator.next();
    first = null;
    return turn;
  };
  const leave = async () => (await iterator.return?.()) ?? { done: true as const, value: undefined };
  return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
}

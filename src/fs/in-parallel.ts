/** Calls on the file system at once, of one caller: enough to keep Node's four threads busy, few enough to leave others their turn. */
export const PARALLEL = 16;

/** What `act` gives for each item, in their order, {@link PARALLEL} at a time. The first failure ends it, once those under way have ended. */
export async function inParallel<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async () => {
    while (next < items.length) {
      const i = next++;
      results[i] = await act(items[i] as T);
    }
  };
  const lanes = Array.from({ length: Math.min(PARALLEL, items.length) }, work);
  for (const lane of await Promise.allSettled(lanes)) {
    if (lane.status === 'rejected') throw lane.reason;
  }
  return results;
}

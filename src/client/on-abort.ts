const fans = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls back once when the signal aborts; the answer takes the callback away again. However many wait on one signal,
 * it carries a single listener: Node warns of a leak at eleven.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => {};
  if (signal.aborted) {
    callback();
    return () => {};
  }
  const known = fans.get(signal);
  const fan = known ?? new Set();
  if (!known) {
    fans.set(signal, fan);
    signal.addEventListener('abort', () => drain(fan), { once: true });
  }
  const entry = () => callback(); // its own identity: one callback may wait twice
  fan.add(entry);
  return () => {
    fan.delete(entry);
  };
}

function drain(fan: Set<() => void>): void {
  const callbacks = [...fan];
  fan.clear();
  for (const callback of callbacks) callback();
}

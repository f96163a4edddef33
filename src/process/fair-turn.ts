/** How long readers may be served before the event loop turns to everything else, in milliseconds. */
const TURN_MS = 10;

const waiting: (() => void)[] = [];
let serving = false;
let turn_ends_at = 0;

/**
 * Resolves when it is this reader's turn: one after the other, each until it has passed on what it took, and all
 * together for 10 ms before the loop goes on. Whoever comes back stands at the end of the line.
 */
export function fairTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (!serving) serveNext();
  });
}

/** Resolves when nobody stands in line. */
export async function allServed(): Promise<void> {
  do await new Promise(setImmediate);
  while (waiting.length > 0);
}

/** A tick comes when all promises of the reader before have settled, so after its write. */
function serveNext(): void {
  serving = true;
  queueMicrotask(() => process.nextTick(serve));
}

function serve(): void {
  serving = false;
  if (waiting.length === 0) return;
  if (turn_ends_at === 0) {
    turn_ends_at = performance.now() + TURN_MS;
    setImmediate(beginTurn);
  } else if (performance.now() >= turn_ends_at) return;
  waiting.shift()?.();
  serveNext();
}

function beginTurn(): void {
  turn_ends_at = 0;
  serve();
}

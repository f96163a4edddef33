/** How long readers may be served before the event loop turns to everything else, in milliseconds. */
const TURN_MS = 10;

/** How many readers take their turn together while that is quick: within `QUICK_MS`, in milliseconds. */
const MOST_TOGETHER = 8;
const QUICK_MS = 1;

const waiting: (() => void)[] = [];
let serving = false;
let served_at = 0;
let turn_ends_at = 0;

/**
 * Calls back when it is this reader's turn: one after the other, each until it has passed on what it took, and all
 * together for 10 ms before the loop goes on. Readers that take little, so that 8 of them take less than 1 ms, go 8 at
 * a time. Whoever comes back stands at the end of the line.
 */
export function takeTurn(turn: () => void): void {
  waiting.push(turn);
  if (!serving) serveNext();
}

/** Resolves when nobody stands in line. */
export async function allServed(): Promise<void> {
  do await new Promise(setImmediate);
  while (waiting.length > 0);
}

/** A tick comes when all promises of the readers before have settled, so after their writes. */
function serveNext(): void {
  serving = true;
  queueMicrotask(() => process.nextTick(serve));
}

function serve(): void {
  const now = performance.now();
  if (waiting.length === 0 || (turn_ends_at !== 0 && now >= turn_ends_at)) {
    serving = false;
    served_at = 0; // whoever comes next goes alone
    return;
  }
  if (turn_ends_at === 0) {
    turn_ends_at = now + TURN_MS;
    setImmediate(beginTurn);
  }
  const together = now - served_at < QUICK_MS ? MOST_TOGETHER : 1;
  served_at = now;
  serving = true; // some come back at once
  for (const turn of waiting.splice(0, together)) turn();
  serveNext();
}

function beginTurn(): void {
  turn_ends_at = 0;
  serve();
}

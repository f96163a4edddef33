import { closeSync, openSync, readFileSync } from 'node:fs';
import { GatewayError } from '../protocol/index.js';

/** Descriptors kept free for connections and files. */
const RESERVE = 64;

/** The soft limit of open descriptors (getrlimit(2)), or infinity when it cannot be read. */
function descriptorLimit(): number {
  try {
    const line = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'));
    return line ? Number(line[1]) : Number.POSITIVE_INFINITY;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

const LIMIT = descriptorLimit();
const CEILING = LIMIT - Math.min(RESERVE, LIMIT / 4);

/** Descriptors that one process takes at most: three pipes, or both sides of a terminal; the file of its output; one more at its start. */
const PER_PROCESS = 5;

/**
 * Refuses a start that would leave too few descriptors to answer requests with. A new descriptor takes the lowest free
 * number, so that number tells how many are in use.
 * It is not looked for while processes can hold no more than half of them.
 * @throws {GatewayError} `resource_exhausted`
 */
export function checkDescriptors(open_processes: number): void {
  if (open_processes * PER_PROCESS < CEILING / 2) return;
  let lowest = LIMIT;
  try {
    lowest = openSync('/dev/null', 'r');
    closeSync(lowest);
  } catch {
    // none left at all
  }
  if (lowest < CEILING) return;
  throw new GatewayError(
    'resource_exhausted',
    `The gateway has ${lowest} of ${LIMIT} descriptors in use: end a process, or raise its nofile limit.`,
    {
      limit: LIMIT,
    },
  );
}

import { setFlagsFromString } from 'node:v8';

const V8_VERSION = Number.parseInt(process.versions.v8, 10);

/**
 * How soon the engine optimizes what is called often, by the words of its versions (`node --v8-options`); early and in small
 * pieces, where the larger ones that its compiler makes by itself keep a whole core from the callers.
 */
const EARLY_FLAGS =
  V8_VERSION < 12
    ? ['--interrupt-budget=12000', '--max-inlined-bytecode-size-cumulative=300']
    : ['--invocation-count-for-maglev=50', '--invocation-count-for-turbofan=400', '--minimum-invocations-after-ic-update=50'];

/**
 * The space for what is new stays small, so that the same pages are used again: the system gives fresh ones slowly, and they cost a new
 * gateway on Node 20 a quarter of the time of its first hundred requests; Node 24 lets 60 MiB of what passes through pile up besides.
 */
const LEAN_FLAGS = V8_VERSION === 12 ? [] : ['--semi-space-growth-factor=1'];

/** On Node 20 what is old may grow to five times its size: else large input makes the engine collect everything for each of its blocks. */
const PATIENT_FLAGS = V8_VERSION < 12 ? ['--heap-growing-percent=400'] : [];

/** What is new is collected in a millisecond; more threads for it take the cores from the callers and the processes, all of them at times. */
const ALONE_FLAGS = ['--no-parallel-scavenge'];

/** What the engine is told, in words it knows. */
export const ENGINE_FLAGS = [...EARLY_FLAGS, ...LEAN_FLAGS, ...PATIENT_FLAGS, ...ALONE_FLAGS];

/**
 * Lets the engine optimize after hundreds of calls instead of thousands: a server runs the same few paths from its first request on, and
 * left alone, the first thousand requests take twice the time of the rest. To be called before anything else is loaded: loading alone
 * makes the space for what is new grow.
 */
export function tuneEngine(): void {
  for (const flag of ENGINE_FLAGS) setFlagsFromString(flag);
}

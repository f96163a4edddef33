import { constants } from 'node:os';
import { GatewayError } from '../protocol/index.js';

/** A name that this system knows, with SIG. */
export type SignalName = NodeJS.Signals;

const NAMES = Object.keys(constants.signals) as SignalName[];

/**
 * Reads a signal's name, with or without SIG, in any case.
 * @throws {GatewayError} `invalid_argument`, naming what is allowed
 */
export function signalName(text: string): SignalName {
  const upper = text.toUpperCase();
  const name = (upper.startsWith('SIG') ? upper : `SIG${upper}`) as SignalName;
  if (NAMES.includes(name)) return name;
  throw new GatewayError('invalid_argument', `signal "${text}" is not known here: use a name such as TERM, SIGINT or kill.`, {
    field: 'signal',
    allowed: NAMES,
  });
}

/** The name of signal `number` (1 to 64); `SIG<number>` for a real-time signal. */
export function signalOf(number: number): string {
  const found = NAMES.find((name) => constants.signals[name] === number);
  return found ?? `SIG${number}`;
}

/** The number of a named signal. */
export function signalNumber(name: string): number {
  return constants.signals[name as SignalName] ?? Number(name.slice(3));
}

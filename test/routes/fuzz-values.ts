import fc from 'fast-check';

/** Text that is seldom meant. */
export const odd = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', '.', '..', '\u0000', 'a\nb', '\ud800', 'é💥', 'x'.repeat(600)),
);
/** Any JSON. */
export const json = fc.jsonValue({ maxDepth: 2 });

/** Mostly the usual, now and then the rare. */
export const rarely = <T, U>(usual: fc.Arbitrary<T>, rare: fc.Arbitrary<U>, weight = 20) =>
  fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: rare });

/** Numbers that count nothing. */
export const badCount = fc.constantFrom(-1, 1.5, 2 ** 53, 1e300, 0);
/** A short text. */
export const word = fc.string({ maxLength: 8 });
/** An object with its required fields and, of the others, few. */
export function sparse(
  required: Record<string, fc.Arbitrary<unknown>>,
  others: Record<string, fc.Arbitrary<unknown>>,
): fc.Arbitrary<object> {
  return fc.subarray(Object.keys(others), { maxLength: Math.min(4, Object.keys(others).length) }).chain((names) => {
    const chosen = names.map((name) => [name, others[name]!] as const);
    return fc.record({ ...required, ...Object.fromEntries(chosen) });
  });
}

const badSeq = fc.constantFrom('-1', '1.5', '1e3', '', '9007199254740993', '9007199254740991', '٣');
/** A count as a query has it. */
export const seq = rarely(fc.nat(3).map(String), badSeq, 8);
/** A time to wait, in milliseconds. */
export const wait = rarely(fc.nat(5).map(String), fc.constantFrom('-1', 'soon', ''), 8);
/** true or false. */
export const flag = rarely(fc.constantFrom('true', 'false'), fc.constantFrom('TRUE', '1', ''), 8);
/** One of some words, and now and then another. */
export const oneOf = (...words: string[]) => rarely(fc.constantFrom(...words), word, 8);

/** A call of the gateway. */
export interface Call {
  method: string;
  path: string;
  body?: fc.Arbitrary<unknown>;
  /** Whether any bytes are a body. */
  raw?: true;
  /** Parameters that are always given. */
  required?: Record<string, fc.Arbitrary<string>>;
  /** Parameters that may be given. */
  query: Record<string, fc.Arbitrary<string>>;
  /** Headers besides those of any call. */
  headers?: fc.Arbitrary<Record<string, string>>;
}

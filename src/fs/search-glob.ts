/** Characters that stand for themselves in a regular expression. */
const PLAIN = /^[A-Za-z0-9 _/-]$/;

/** Fits nothing: what a glob means that opens a class and never closes it (wildmatch of git). */
const NOTHING = '[^\\x{0}-\\x{10FFFF}]';

/**
 * A glob as a regular expression of RE2, so that none takes more than linear time: `*` and `?` stay within a name, `**` between
 * slashes spans directories, `[a-z]`, `[!a-z]` and `[[:alpha:]]` are one character but no slash, a backslash takes away the
 * meaning of what follows it (gitignore(5), glob(7)).
 * @param braces whether `{a,b}` is one of several, as in shells and not in .gitignore files
 */
export function globSource(glob: string, braces: boolean): string {
  return new GlobText(glob, braces).source();
}

class GlobText {
  readonly #chars: string[];
  readonly #braces: boolean;
  #at = 0;
  #depth = 0;

  constructor(glob: string, braces: boolean) {
    this.#chars = [...glob];
    this.#braces = braces && isBalanced(this.#chars);
  }

  source(): string {
    let source = '';
    while (this.#at < this.#chars.length) source += this.#next();
    return source;
  }

  #next(): string {
    const char = this.#chars[this.#at++] ?? '';
    if (char === '*') return this.#star();
    if (char === '?') return '[^/]';
    if (char === '[') return this.#class();
    if (char === '\\') return this.#at < this.#chars.length ? literal(this.#chars[this.#at++] ?? '') : NOTHING;
    if (this.#braces) {
      if (char === '{') return this.#brace(1, '(?:');
      if (char === '}' && this.#depth > 0) return this.#brace(-1, ')');
      if (char === ',' && this.#depth > 0) return '|';
    }
    return literal(char);
  }

  #brace(step: number, text: string): string {
    this.#depth += step;
    return text;
  }

  /** `**` means more than `*` only where it is a whole name of the path. */
  #star(): string {
    const from = this.#at - 1;
    while (this.#chars[this.#at] === '*') this.#at++;
    const before = this.#chars[from - 1];
    const after = this.#chars[this.#at];
    const whole = this.#at - from === 2 && (before === undefined || before === '/') && (after === undefined || after === '/');
    if (!whole) return '[^/]*';
    if (after === undefined) return before === undefined ? '(?s:.*)' : '(?s:.+)';
    this.#at++;
    return '(?s:.*/)?';
  }

  #class(): string {
    const start = this.#at;
    const negated = this.#chars[start] === '!' || this.#chars[start] === '^';
    if (negated) this.#at++;
    const items: string[] = [];
    for (let first = true; ; first = false) {
      const char = this.#chars[this.#at++];
      if (char === undefined) {
        this.#at = this.#chars.length;
        return NOTHING;
      }
      if (char === ']' && !first) break;
      items.push(this.#item(char));
    }
    if (negated) return `[^/${items.join('')}]`;
    const set = items.join('');
    return set === '' ? NOTHING : `[${set}]`;
  }

  /** One character, range or named set of a class. */
  #item(char: string): string {
    const named = char === '[' ? this.#named() : null;
    if (named !== null) return named;
    const low = this.#member(char);
    const after = this.#chars[this.#at + 1];
    if (this.#chars[this.#at] !== '-' || after === ']' || after === undefined) return range(low, low);
    this.#at += 2;
    return range(low, this.#member(after));
  }

  /** `[:alpha:]` and the like, without the bracket that was read. */
  #named(): string | null {
    const name = /^:([a-z]+):\]/.exec(this.#chars.slice(this.#at, this.#at + 10).join(''))?.[1];
    if (name === undefined || !POSIX.has(name)) return null;
    this.#at += name.length + 3;
    return WITH_SLASH.get(name) ?? `[:${name}:]`;
  }

  #member(char: string): number {
    return (char === '\\' ? (this.#chars[this.#at++] ?? char) : char).codePointAt(0) ?? 0;
  }
}

const POSIX = new Set(['alnum', 'alpha', 'blank', 'cntrl', 'digit', 'graph', 'lower', 'print', 'punct', 'space', 'upper', 'xdigit']);

const SLASH = 0x2f;

/** The named sets that hold a slash, without it. */
const WITH_SLASH = new Map([
  ['graph', range(0x21, 0x7e)],
  ['print', range(0x20, 0x7e)],
  ['punct', [range(0x21, SLASH), range(0x3a, 0x40), range(0x5b, 0x60), range(0x7b, 0x7e)].join('')],
]);

/** A class never takes a slash, also when its range spans it. */
function range(low: number, high: number): string {
  if (low > high) return '';
  if (low > SLASH || high < SLASH) return `${code(low)}-${code(high)}`;
  return range(low, SLASH - 1) + range(SLASH + 1, high);
}

function code(point: number): string {
  return `\\x{${point.toString(16)}}`;
}

function literal(char: string): string {
  return PLAIN.test(char) ? char : code(char.codePointAt(0) ?? 0);
}

/** Braces that do not match up stand for themselves. */
function isBalanced(chars: string[]): boolean {
  let depth = 0;
  for (let at = 0; at < chars.length && depth >= 0; at++) {
    if (chars[at] === '\\') at++;
    else if (chars[at] === '{') depth++;
    else if (chars[at] === '}') depth--;
  }
  return depth === 0;
}

import { PathPattern } from './search-pattern.js';

interface Rule {
  pattern: PathPattern;
  /** Takes back what rules before it left out. */
  negated: boolean;
}

/** The rules of one .gitignore file, and of those above it (gitignore(5)). */
export class IgnoreRules {
  readonly #above: IgnoreRules | null;
  readonly #rules: Rule[];
  /** Path of its directory below the one that is searched, with a slash at its end; what lies between them where it is above. */
  readonly #place: string;
  readonly #is_above: boolean;

  private constructor(above: IgnoreRules | null, text: string, place: string, is_above: boolean) {
    this.#above = above;
    this.#rules = text
      .replace(/^\uFEFF/, '')
      .split('\n')
      .flatMap(ruleOf);
    this.#place = place;
    this.#is_above = is_above;
  }

  /** Rules of a directory above the one that is searched; `between` is the path from the one to the other, with a slash at its end. */
  static above(rules: IgnoreRules | null, text: string, between: string): IgnoreRules {
    return new IgnoreRules(rules, text, between, true);
  }

  /** Rules of a directory in the tree; `place` is its path with a slash at its end, or nothing. */
  static within(rules: IgnoreRules | null, text: string, place: string): IgnoreRules {
    return new IgnoreRules(rules, text, place, false);
  }

  /** Whether a path below the directory that is searched is left out: the last rule of the nearest file decides. */
  ignores(path: string, name: string, is_directory: boolean): boolean {
    const own = this.#is_above ? this.#place + path : path.slice(this.#place.length);
    const rule = this.#rules.findLast(({ pattern }) => pattern.fits(own, name, is_directory));
    if (rule !== undefined) return !rule.negated;
    return this.#above?.ignores(path, name, is_directory) ?? false;
  }
}

function ruleOf(line: string): Rule[] {
  const text = line.replace(/\r$/, '').replace(/(?<=^|[^\\])[ \t]+$/, '');
  if (text === '' || text.startsWith('#')) return [];
  const negated = text.startsWith('!');
  const glob = negated ? text.slice(1) : text;
  if (glob === '' || glob === '/') return [];
  return [{ pattern: new PathPattern(glob, false), negated }];
}

import { RE2JS } from 're2js';
import { globSource } from './search-glob.js';

/** A glob that is held against paths. */
export class PathPattern {
  readonly #expression: RE2JS;
  /** With a slash in it a glob is held against the whole path, without one against the name. */
  readonly #whole_path: boolean;
  readonly #directories_only: boolean;

  constructor(glob: string, braces: boolean) {
    const trimmed = glob.replace(/(?<=[^/\\])\/$/, '');
    this.#directories_only = trimmed !== glob;
    this.#whole_path = trimmed.includes('/');
    this.#expression = RE2JS.compile(globSource(trimmed.replace(/^\//, ''), braces));
  }

  fits(path: string, name: string, is_directory: boolean): boolean {
    if (this.#directories_only && !is_directory) return false;
    return this.#expression.testExact(this.#whole_path ? path : name);
  }
}

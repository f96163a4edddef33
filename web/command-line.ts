/** What a typed command line means: its words, or why it has none. */
export type ParsedCommand = { argv: string[]; shell_words: string[] } | { error: string };

/** What only a shell would understand, outside quotes. */
const SHELL_CHARACTERS = /[|&;<>()$`*?[\]{}~#!]/;

const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/**
 * Takes a command line apart as a shell does (POSIX.1-2024, Shell Command Language, 2.2): single and double quotes, and
 * backslashes. Nothing is expanded; words that a shell would expand or obey are named in `shell_words`.
 */
export function splitCommand(text: string): ParsedCommand {
  const words = new WordSplitter(text);
  const error = words.run();
  if (error !== null) return { error };
  if (words.argv.length === 0) return { error: 'Type a command.' };
  return { argv: words.argv, shell_words: words.shell_words };
}

/** Writes words as a command line that means just them. */
export function joinCommand(argv: readonly string[]): string {
  return argv.map((word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(' ');
}

class WordSplitter {
  readonly #text: string;
  #at = 0;
  #word: string | null = null;
  #plain = '';
  readonly argv: string[] = [];
  readonly shell_words: string[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  /** Null when all went well. */
  run(): string | null {
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at++] as string;
      const error = this.#take(character);
      if (error !== null) return error;
    }
    this.#end();
    return null;
  }

  #take(character: string): string | null {
    switch (character) {
      case "'":
        return this.#single();
      case '"':
        return this.#double();
      case '\\':
        return this.#escaped();
      case ' ':
      case '\t':
      case '\n':
        this.#end();
        return null;
      default:
        this.#add(character);
        this.#plain += character;
        return null;
    }
  }

  #single(): string | null {
    const end = this.#text.indexOf("'", this.#at);
    if (end === -1) return "A quote ' is open.";
    this.#add(this.#text.slice(this.#at, end));
    this.#at = end + 1;
    return null;
  }

  #double(): string | null {
    this.#add('');
    for (;;) {
      const character = this.#text[this.#at++];
      if (character === undefined) return 'A quote " is open.';
      if (character === '"') return null;
      const next = this.#text[this.#at];
      if (character === '\\' && next !== undefined && '$`"\\\n'.includes(next)) {
        this.#at++;
        if (next !== '\n') this.#add(next);
      } else {
        if (character === '$' || character === '`') this.#plain += character;
        this.#add(character);
      }
    }
  }

  #escaped(): string | null {
    const next = this.#text[this.#at++];
    if (next === undefined) return 'A backslash stands at the end.';
    if (next !== '\n') this.#add(next);
    return null;
  }

  #add(text: string): void {
    this.#word = (this.#word ?? '') + text;
  }

  #end(): void {
    if (this.#word !== null) {
      this.argv.push(this.#word);
      if (SHELL_CHARACTERS.test(this.#plain)) this.shell_words.push(this.#word);
    }
    this.#word = null;
    this.#plain = '';
  }
}

import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { SettingError } from './token.js';

/** What Node puts in place of bytes that are not UTF-8. */
const REPLACED = '\ufffd';

/**
 * Refuses words that are not UTF-8, which would go on as others than those given: JSON holds no such bytes.
 * @throws {SettingError}
 */
export function checkWords(words: string[]): void {
  const at = words.findIndex((word) => word.includes(REPLACED));
  if (at < 0 || isUtf8(given('cmdline'))) return;
  throw new SettingError(`The word ${JSON.stringify(words[at])} is not UTF-8, and could not be passed on as it is.`);
}

/** Whether a variable of this program is text, and not bytes that only stand for themselves. */
export function isText(name: string, value: string): boolean {
  if (!value.includes(REPLACED)) return true;
  const all = given('environ').toString('latin1').split('\0');
  return all.every((entry) => !entry.startsWith(`${name}=`) || isUtf8(Buffer.from(entry, 'latin1')));
}

/** What the system handed to this program; nothing where it does not tell. */
function given(what: 'cmdline' | 'environ'): Buffer {
  try {
    return readFileSync(`/proc/self/${what}`);
  } catch {
    return Buffer.alloc(0);
  }
}

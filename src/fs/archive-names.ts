import { GatewayError } from '../protocol/error.js';
import { MAX_ARCHIVE_NAME_BYTES, MAX_WALK_DEPTH } from '../protocol/limits.js';
import { isAbsolute, isDot, isDotDot, pathNames, showPath } from './path-bytes.js';

/**
 * The names that lead from the directory that is written to an entry; none for the directory itself.
 * @throws {GatewayError} `unsafe_archive_entry` for an absolute name and for one with `..`, `invalid_archive` for a NUL byte, `path_too_long`
 */
export function entryNames(name: Buffer): Buffer[] {
  const shown = showPath(name);
  if (name.length > MAX_ARCHIVE_NAME_BYTES) {
    const detail = `An entry has a name of ${name.length} bytes; ${MAX_ARCHIVE_NAME_BYTES} are allowed.`;
    throw new GatewayError('path_too_long', detail, { limit: MAX_ARCHIVE_NAME_BYTES });
  }
  if (name.includes(0)) throw new GatewayError('invalid_archive', `${shown} holds a NUL byte, which no name can.`);
  if (isAbsolute(name)) throw unsafe(`${shown} is an absolute name: pack it relative to its directory`);
  const names = pathNames(name).filter((part) => !isDot(part));
  if (names.some(isDotDot)) throw unsafe(`${shown} leads out of the directory by its ".."`);
  if (names.length > MAX_WALK_DEPTH) {
    throw new GatewayError('path_too_long', `An entry lies ${names.length} directories deep; ${MAX_WALK_DEPTH} are allowed.`, {
      limit: MAX_WALK_DEPTH,
    });
  }
  return names;
}

/**
 * Refuses the text of a symbolic link that leads out of the directory that is written. Its `..` have to come first: after a
 * name they could lead anywhere, since that may be a link itself.
 * @param depth directories above the link, in the directory that is written; null where it may lead anywhere
 * @throws {GatewayError} `unsafe_archive_entry`, and as {@link entryNames}
 */
export function checkLinkText(name: Buffer, text: Buffer, depth: number | null): void {
  const link = `${showPath(name)} is a link to ${showPath(text)}, which`;
  if (text.length > MAX_ARCHIVE_NAME_BYTES || text.length === 0 || text.includes(0)) {
    throw new GatewayError('invalid_archive', `${showPath(name)} is a link without a text that a link can have.`);
  }
  if (depth === null) return;
  if (isAbsolute(text)) throw unsafe(`${link} is absolute, and so leads out of the directory`);
  const names = pathNames(text).filter((part) => !isDot(part));
  const up = names.findIndex((part) => !isDotDot(part));
  const ascent = up < 0 ? names.length : up;
  if (ascent > depth) throw unsafe(`${link} leads out of the directory`);
  if (names.slice(ascent).some(isDotDot)) throw unsafe(`${link} has a ".." after a name, and so may lead out of the directory`);
}

/** What is refused because it could touch something else than the directory that is written. */
export function unsafe(why: string): GatewayError {
  return new GatewayError('unsafe_archive_entry', `${why}. Leave it out of the tar.`);
}

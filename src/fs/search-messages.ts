import type { SearchEnd, SearchMatch, SearchQuery } from '../protocol/search.js';

/** Batches on their way to a reader before the search waits for it. */
export const BATCHES_AHEAD = 4;

/** What the thread of a search is given. */
export interface SearchTask {
  /** Leads to what is searched, for as long as the search lasts. */
  at: Uint8Array;
  /** Its name, when it is a file. */
  file_name: Uint8Array | null;
  query: SearchQuery;
  /** The .gitignore files above it, the farthest first, each with the path from its directory to what is searched. */
  rules_above: { text: string; between: string }[];
  /** When it has to be done, in milliseconds since 1970. */
  deadline_at: number;
  /** One number: batches that were sent and not taken. */
  ahead: SharedArrayBuffer;
}

/** What is known of a search at any time. */
export type SearchCounts = Pick<SearchEnd, 'matches' | 'files' | 'skipped'>;

/** What the thread tells. */
export type SearchMessage =
  | { kind: 'ready' }
  | { kind: 'refused'; field: 'text' | 'glob'; detail: string }
  | { kind: 'batch'; lines: SearchMatch[]; counts: SearchCounts }
  | { kind: 'end'; lines: SearchMatch[]; counts: SearchCounts; reason: SearchEnd['reason'] };

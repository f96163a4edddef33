import type { DirectoryEntry } from '../../src/client/index.js';

/** What files are sorted by. */
export type FileSort = 'name' | 'size' | 'modified';

export interface FileQuery {
  search: string;
  sort: FileSort;
  descending: boolean;
}

const KEYS: Record<FileSort, (entry: DirectoryEntry) => number | string> = {
  name: () => 0,
  size: ({ metadata }) => metadata?.size_bytes ?? 0,
  modified: ({ metadata }) => metadata?.modified_at ?? '',
};

const names = new Intl.Collator('en', { numeric: true });

/** Those whose name holds what is searched, directories first. */
export function queryFiles(entries: readonly DirectoryEntry[], { search, sort, descending }: FileQuery): DirectoryEntry[] {
  const wanted = search.trim().toLowerCase();
  const sign = descending ? -1 : 1;
  const key = KEYS[sort];
  const compare = (a: DirectoryEntry, b: DirectoryEntry) => {
    const [left, right] = [key(a), key(b)];
    return (
      Number(b.type === 'directory') - Number(a.type === 'directory') ||
      sign * (left < right ? -1 : left > right ? 1 : names.compare(a.name, b.name))
    );
  };
  return entries.filter(({ name }) => name.toLowerCase().includes(wanted)).sort(compare);
}

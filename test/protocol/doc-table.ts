import { readFileSync } from 'node:fs';

/** The rows of all tables of a page in docs/, cell by cell, without their heads. */
export function tableRows(page: string): string[][] {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const rows: string[][] = [];
  for (const table of text.matchAll(/(?:^\|.*\n)+/gm)) {
    const lines = table[0].trimEnd().split('\n').slice(2);
    rows.push(
      ...lines.map((line) =>
        line
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim()),
      ),
    );
  }
  return rows;
}

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { WebFiles } from './routes/web.js';

/**
 * The files of the dashboard that are there now; null when it was not built. What is put there later is not served.
 * @param dir where it was built to: index.html, and what it loads in assets/
 */
export function webFiles(dir: string): WebFiles | null {
  const page = names(dir).includes('index.html');
  const assets = join(dir, 'assets');
  return page ? { page: join(dir, 'index.html'), assets: new Map(names(assets).map((name) => [name, join(assets, name)])) } : null;
}

/** The regular files of a directory. */
function names(dir: string): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));
  } catch {
    return []; // not built
  }
}

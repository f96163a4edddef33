import { renameSync, writeFileSync } from 'node:fs';

/**
 * Writes a file whole or not at all, also where the power is cut meanwhile. It is its owner's alone.
 * @throws what the system says
 */
export function writeWhole(path: string, content: string | Uint8Array): void {
  writeFileSync(`${path}.new`, content, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
}

import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A tree as a value: names, types, modes, contents and link texts, sorted. */
export function treeSnapshot(path: Buffer): unknown {
  const stats = lstatSync(path);
  const mode = (stats.mode & 0o7777).toString(8);
  if (stats.isSymbolicLink()) return ['link', readlinkSync(path, { encoding: 'latin1' })];
  if (stats.isFile()) return ['file', mode, readFileSync(path, 'base64')];
  if (!stats.isDirectory()) return ['special'];
  const names = readdirSync(path, { encoding: 'latin1' }).sort();
  return ['directory', mode, names.map((name) => [name, treeSnapshot(Buffer.concat([path, Buffer.from(`/${name}`, 'latin1')]))])];
}

/** Makes directories `d/d/d…`, each with a file `f`, deeper than a path can say: in a process of its own, which goes down into them. */
export function plantDeep(path: string, depth: number): void {
  const script = `for (let i = 0; i < ${depth}; i++) { fs.mkdirSync('d'); process.chdir('d'); fs.writeFileSync('f', ''); }`;
  execFileSync(process.execPath, ['-e', script], { cwd: path });
}

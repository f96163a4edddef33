import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** A tar that Python makes: `t` is the open TarFile, `add(name, content=b'', **fields)` adds an entry. */
export function pythonTar(script: string): Buffer {
  const start = `import tarfile,sys,io
out=io.BytesIO(); t=tarfile.open(fileobj=out,mode='w')
def add(name, content=b'', **fields):
  m=tarfile.TarInfo(name); m.size=len(content); m.mode=0o644
  for key,value in fields.items(): setattr(m,key,value)
  t.addfile(m, io.BytesIO(content))
`;
  const end = '\nt.close(); sys.stdout.buffer.write(out.getvalue())';
  return execFileSync('python3', ['-c', start + script + end], { maxBuffer: 1 << 29 });
}

/** A tar that GNU tar makes of a directory. */
export function gnuTar(directory: string, ...flags: string[]): Buffer {
  return execFileSync('tar', ['c', ...flags, '-C', directory, '.'], { maxBuffer: 1 << 29 });
}

/** All bytes of a tar that is read. */
export async function gather(tar: AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of await tar) parts.push(part);
  return Buffer.concat(parts);
}

/** Gives all in a tree a time that is in the middle of a microsecond: Node's calls keep no more than about that. */
export function settle(directory: string): void {
  execFileSync('find', [directory, '-exec', 'touch', '-h', '-d', '@1000000000.123456500', '{}', '+']);
}

/** What is in a tree: type, mode, time in microseconds, content or text of links, by the bytes of the paths. */
export function treeState(directory: string): Record<string, string> {
  const state: Record<string, string> = {};
  const visit = (path: Buffer, shown: string) => {
    for (const name of readdirSync(path, { encoding: 'buffer' })) {
      const at = Buffer.concat([path, Buffer.from('/'), name]);
      const key = `${shown}${name.toString('latin1')}`;
      const stats = lstatSync(at, { bigint: true });
      const told = [(stats.mode & 0o7777n).toString(8), stats.mtimeNs / 1000n];
      if (stats.isSymbolicLink()) state[key] = ['link', told[1], readlinkSync(at, { encoding: 'buffer' }).toString('latin1')].join(' ');
      else if (stats.isFile()) state[key] = ['file', ...told, readFileSync(at).toString('latin1')].join(' ');
      else state[key] = ['other', ...told].join(' ');
      if (stats.isDirectory()) visit(at, `${key}/`);
    }
  };
  visit(Buffer.from(directory), '');
  return state;
}

import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { LocalFileSystem } from '../../src/fs/local-file-system.js';
import type { FileContent, FilePath, GatewayError } from '../../src/protocol/index.js';

/** Both ways in which paths are walked: below a root, and on the whole machine. */
export const ROOTS = ['below a root', 'on the whole machine'] as const;

/** Directories of one test, made before it and gone after it; no descriptor on them may be left open by then. */
export class Scratch {
  /** Holds `root` and, beside it, `outside` and `root-evil`. */
  top = '';

  constructor(readonly kind: (typeof ROOTS)[number] = 'below a root') {
    let open: string[] = [];
    beforeEach(() => {
      this.top = mkdtempSync(join(tmpdir(), 'files-'));
      for (const name of ['root', 'outside', 'root-evil']) mkdirSync(join(this.top, name));
      writeFileSync(this.outside('secret'), 'secret');
      writeFileSync(join(this.top, 'root-evil/secret'), 'secret');
      open = openFiles();
    });
    afterEach(() => {
      rmSync(this.top, { recursive: true, force: true });
      expect(openFiles()).toEqual(open);
    });
  }

  get files(): LocalFileSystem {
    return new LocalFileSystem(this.kind === 'below a root' ? { root: this.path('') } : {});
  }

  /** Taken as it is: dots and slashes stay. */
  path(name: string): string {
    const root = join(this.top, 'root');
    return name === '' ? root : `${root}/${name}`;
  }

  outside(name: string): string {
    return join(this.top, 'outside', name);
  }

  /** A path as a caller gives it. */
  at(name: string): FilePath {
    return { path: this.path(name) };
  }

  /** What must never change. */
  get outsideState(): string[] {
    return ['outside', 'root-evil'].flatMap((name) =>
      readdirSync(join(this.top, name), { recursive: true }).map((entry) => `${name}/${entry}`),
    );
  }
}

/** The files and directories this process holds open, by path. */
function openFiles(): string[] {
  const targets = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  return targets.filter((target) => target.startsWith('/') && !target.startsWith('/proc/') && !target.startsWith('/dev/')).sort();
}

/** The code a call fails with, or what it gives. */
export async function codeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    return (error as GatewayError).code ?? error;
  }
}

/** All bytes of a content. */
export async function bytesOf(content: FileContent | Promise<FileContent>): Promise<Buffer> {
  const blocks: Uint8Array[] = [];
  for await (const block of (await content).body) blocks.push(block);
  return Buffer.concat(blocks);
}

/** All of a content as text. */
export const textOf = async (content: FileContent | Promise<FileContent>): Promise<string> => (await bytesOf(content)).toString();

/** The names in a directory that stand for something unfinished. */
export const litter = (directory: string): string[] =>
  readdirSync(directory, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.exec-gateway-tmp'));

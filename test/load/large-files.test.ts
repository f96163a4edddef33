import { createHash } from 'node:crypto';
import { mkdtempSync, openSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Environment } from '../../src/environment.js';
import { bytesOf } from '../support/file-bytes.js';
import { GatewayServer } from '../support/gateway-server.js';
import { RssWatch } from './rss-watch.js';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const SIZE = 2 * GIB + 64 * MIB;
const ROOM = 64 * MIB;
const dir = mkdtempSync(join(tmpdir(), 'large-files-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** A file of more than 2 GiB that holds bytes at its beginning, around 2 GiB and 4 bytes before its end, and zeros. */
const sparse = join(dir, 'sparse');
writeFileSync(sparse, 'begin');
truncateSync(sparse, SIZE);
const file = openSync(sparse, 'r+');
writeSync(file, 'middle', 2 * GIB - 3);
writeSync(file, 'end!', SIZE - 4);

describe.each(['remote', 'proxied'])('B40 %s', (name) => {
  const servers: GatewayServer[] = [];
  let files: Environment['files'];
  let environment: Environment;

  beforeEach(async () => {
    servers.push(await GatewayServer.start());
    if (name === 'proxied') {
      const { url, token } = servers[0] as GatewayServer;
      const secret = join(dir, 'token');
      writeFileSync(secret, token as string, { mode: 0o600 });
      servers.push(await GatewayServer.start({ flags: ['--upstream', url, '--upstream-token-file', secret] }));
    }
    const { url, token } = servers.at(-1) as GatewayServer;
    environment = Environment.create({ url, token: token as string });
    files = environment.files;
    // What is loaded once is loaded from here on.
    await files.writeFile({ path: join(dir, 'small') }, Buffer.alloc(4 * MIB));
    await bytesOf(await files.readFile({ path: join(dir, 'small') }));
  });
  afterEach(async () => {
    await environment.close();
    for (const server of servers.splice(0).reverse()) await server.stop();
  });

  /** The most memory that any of the gateways took beyond what it had. */
  async function grown(work: () => Promise<void>): Promise<number> {
    const watches = servers.map(({ pid }) => new RssWatch(pid));
    await work();
    return Math.max(...watches.map((watch) => watch.stop()));
  }

  test('a sparse file of more than 2 GiB is read whole and by range, with little memory', async () => {
    const grow = await grown(async () => {
      let bytes = 0;
      for await (const block of (await files.readFile({ path: sparse })).body) bytes += block.length;
      expect(bytes).toBe(SIZE);
      const part = async (offset: number, length?: number) =>
        String(await bytesOf(await files.readFile({ path: sparse }, { offset, length })));
      expect([await part(0, 5), await part(2 * GIB - 3, 6), await part(SIZE - 4)]).toEqual(['begin', 'middle', 'end!']);
    });
    expect(grow).toBeLessThan(ROOM);
  });

  test('1 GiB is written with little memory, and is what was sent', async () => {
    const block = Buffer.alloc(MIB, 'block');
    const sent = createHash('sha256');
    const grow = await grown(async () => {
      const body = async function* () {
        for (let i = 0; i < 1024; i++) {
          block.writeUInt32LE(i);
          sent.update(block);
          yield block;
        }
      };
      await files.writeFile({ path: join(dir, 'written') }, body());
    });
    expect([statSync(join(dir, 'written')).size, grow]).toEqual([GIB, expect.toSatisfy((bytes: number) => bytes < ROOM)]);
    const found = createHash('sha256');
    for await (const bytes of (await files.readFile({ path: join(dir, 'written') })).body) found.update(bytes);
    expect(found.digest('hex')).toBe(sent.digest('hex'));
  });

  test('a device is refused, read or copied', async () => {
    for (const path of ['/dev/zero', '/dev/urandom', '/dev/null']) {
      for (const call of [
        () => files.readFile({ path }),
        () => files.readFile({ path }, { offset: 0, length: 10 }),
        () => files.copy({ source_path: path, destination_path: join(dir, 'device') }),
      ]) {
        await expect(call()).rejects.toMatchObject({ code: 'not_regular_file' });
      }
    }
  });
});

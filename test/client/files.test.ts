import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Gateway } from '../../src/client/index.js';
import { type Client, type ClientRuntime, openRuntime, RUNTIMES } from '../support/client-runtime.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { GatewayServer } from '../support/gateway-server.js';
import { codeOf } from '../support/told.js';

const MIB = 1024 * 1024;

interface Place {
  url: string;
  token: string;
  dir: string;
}

/** Writes what can be written in every form, and reads, lists, copies, moves and removes it. */
async function useFiles({ Gateway, GatewayError }: Client, { url, token, dir }: Place) {
  const { files } = new Gateway({ url, token });
  const at = (name: string) => `${dir}/${name}`;
  const code = (call: Promise<unknown>) =>
    call.then(
      () => 'done',
      (error: unknown) => (error instanceof GatewayError ? error.code : String(error)),
    );
  const made = await files.write(at('text'), 'é€😀\n');
  await files.write(at('bytes'), new Uint8Array([0, 255, 10]));
  await files.write(at('blob'), new Blob(['from ', 'a blob']));
  const stream = async function* () {
    for (let i = 0; i < 100; i++) yield new Uint8Array(50_000).fill(i);
  };
  const streamed = await files.write(at('stream'), stream(), { create_parents: true });
  const whole = await files.readBytes(at('stream'));
  const part = await files.readBytes(at('stream'), { offset: 49_999, length: 2 });
  const failing = async function* () {
    yield new Uint8Array(10);
    throw new Error('the source broke');
  };
  const broke = await code(files.write(at('text'), failing()));
  const etag = made.metadata.etag as string;
  const conditions = [
    await code(files.write(at('text'), 'new', { if_none_match: '*' })),
    await code(files.write(at('text'), 'two\n', { if_match: [etag] })),
    await code(files.write(at('text'), 'three', { if_match: [etag] })),
    await code(files.readText(at('text'), { if_match: etag })),
    await code(files.write(at('text'), 'four', { if_match: etag })),
    await code(files.write(at('text'), 'two\n', { if_match: (await files.metadata(at('text'))).etag as string })),
  ];
  await files.createDirectory(at('d/e'), { recursive: true });
  const copied = await files.copy(at('text'), at('d/copy'));
  await files.move(at('blob'), at('d/e/moved'));
  const paths: string[] = [];
  for await (const entry of files.entries(dir, { depth: 3, limit: 2 })) paths.push(entry.path);
  const texts = [await files.readText(at('d/copy')), await files.readText(at('d/e/moved'))];
  const removed = [await files.remove(at('d'), { recursive: true }), await files.remove(at('d'), { force: true })];
  return {
    created: made.created,
    bytes: Array.from(await files.readBytes(at('bytes'))),
    streamed: streamed.metadata.size_bytes,
    sums: [whole.length, whole.reduce((sum, byte) => sum + byte, 0)],
    part: Array.from(part),
    broke,
    conditions,
    copied,
    paths,
    texts,
    removed,
    refused: [await code(files.readText(at('none'))), await code(files.metadata(at('none'))), await code(files.readText(dir))],
    type: (await files.metadata(at('text'))).type,
  };
}

describe.each(RUNTIMES)('%s', (name) => {
  let runtime: ClientRuntime;
  let server: GatewayServer;
  const dir = mkdtempSync(join(tmpdir(), 'client-files-'));
  beforeAll(async () => {
    runtime = await openRuntime(name);
    server = await GatewayServer.start({ flags: runtime.origin === null ? [] : ['--allow-origin', runtime.origin] });
  });
  afterAll(async () => {
    await runtime.close();
    await server.stop();
    rmSync(dir, { recursive: true });
  });

  test('files are written from text, bytes, blobs and streams, and read, listed, copied, moved and removed', async () => {
    expect(await runtime.run(useFiles, { url: server.url, token: server.token as string, dir })).toEqual({
      created: true,
      bytes: [0, 255, 10],
      streamed: 5_000_000,
      sums: [5_000_000, 50_000 * 4950],
      part: [0, 1],
      broke: 'Error: the source broke',
      conditions: ['precondition_failed', 'done', 'precondition_failed', 'precondition_failed', 'precondition_failed', 'done'],
      copied: { files: 1, directories: 0, bytes: 4, skipped: [] },
      paths: ['bytes', 'd', 'd/copy', 'd/e', 'd/e/moved', 'stream', 'text'],
      texts: ['two\n', 'from a blob'],
      removed: [{ removed: true }, { removed: false }],
      refused: ['path_not_found', 'path_not_found', 'is_a_directory'],
      type: 'file',
    });
    expect(readdirSync(dir).sort()).toEqual(['bytes', 'stream', 'text']);
  });
});

describe('a line that breaks', () => {
  let server: GatewayServer;
  const dir = mkdtempSync(join(tmpdir(), 'client-files-'));
  beforeAll(async () => {
    server = await GatewayServer.start({ flags: ['--allow-host', '127.0.0.1'] });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(dir, { recursive: true });
  });
  const gatewayAt = (url: string) => new Gateway({ url, token: server.token as string, retry: { first_delay_ms: 1, max_delay_ms: 5 } });

  test('a read goes on where it broke, and is whole', async () => {
    const whole = randomBytes(5 * MIB);
    writeFileSync(join(dir, 'f'), whole);
    await using proxy = await CuttingProxy.open(server.url, (count) => (count < 8 ? 700_000 : null));
    expect((await gatewayAt(proxy.url).files.readBytes(join(dir, 'f'))).length).toBe(whole.length);
    expect(Buffer.from(await gatewayAt(proxy.url).files.readBytes(join(dir, 'f'))).equals(whole)).toBe(true);
    expect(proxy.cuts).toBeGreaterThan(3);
  });

  test('a read does not go on in another content', async () => {
    const file = join(dir, 'changes');
    writeFileSync(file, randomBytes(5 * MIB));
    await using proxy = await CuttingProxy.open(server.url, (count) => {
      if (count === 0) return 2 * MIB;
      writeFileSync(file, randomBytes(5 * MIB));
      return null;
    });
    const reading = (async () => {
      for await (const _ of gatewayAt(proxy.url).files.read(file));
    })();
    expect(await codeOf(reading)).toBe('precondition_failed');
  });

  test('a write whose answer is lost is made again; under a condition it is not', async () => {
    const file = join(dir, 'w');
    await using proxy = await CuttingProxy.open(server.url, (count) => (count % 2 === 0 ? 0 : null));
    const { files } = gatewayAt(proxy.url);
    await files.write(file, '{"a":1}');
    expect([readFileSync(file, 'utf8'), proxy.count]).toEqual(['{"a":1}', 2]);
    expect(await codeOf(files.write(file, '{"b":2}', { if_match: '*' }))).toBe('upstream_unreachable');
    expect(proxy.count).toBe(3);
  });
});

import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sha256 } from '../support/told.js';
import { AttachClient } from './attach-client.js';
import { useGateway } from './use-gateway.js';

const MIB = 1024 * 1024;
const gateway = useGateway();
let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'attach-bytes-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

describe.each([
  ['bytes alone', false],
  ['numbered', true],
] as const)('%s', (_name, numbered) => {
  const open = (process_id: string) => AttachClient.open(gateway, `/processes/${process_id}/attach`, numbered);

  describe.each([false, true])('tty %s', (tty) => {
    /** What a viewer is given of a script from the beginning. */
    async function seen(script: string): Promise<Buffer> {
      const { process_id } = await gateway.start(['sh', '-c', `${tty ? 'stty raw -echo; ' : ''}${script}`], { tty, retain_bytes: 2 * MIB });
      const viewer = await open(process_id);
      expect((await viewer.untilEnd()).code).toBe(1000);
      if (!numbered) expect(viewer.messages.every((message) => Buffer.isBuffer(message))).toBe(true);
      return viewer.bytes(numbered);
    }

    test('B21 a character that comes in two parts, and what is no character', async () => {
      const bytes = await seen("printf '\\342'; sleep 0.2; printf '\\224\\200\\377\\000\\n'");
      expect(bytes).toEqual(Buffer.from([0xe2, 0x94, 0x80, 0xff, 0x00, 0x0a]));
    });

    test('B21 a random file is byte-exact', async () => {
      const file = join(dir, 'random');
      const bytes = randomBytes(MIB);
      writeFileSync(file, bytes);
      expect(sha256(await seen(`cat ${file}`))).toBe(sha256(bytes));
    });
  });

  test('B25 a large paste on a terminal arrives whole and in order, and it is told how much was accepted', async () => {
    const file = join(dir, 'pasted');
    const script = `stty raw -echo; echo ready; head -c 1000000 > ${file}`;
    const { process_id } = await gateway.start(['sh', '-c', script], { tty: true });
    const viewer = await open(process_id);
    await viewer.until(() => viewer.text(numbered).includes('ready'));
    const input = randomBytes(1_000_000);
    const begun = performance.now();
    for (let at = 0; at < input.length; at += 100_000) {
      const part = input.subarray(at, at + 100_000);
      if (numbered) viewer.input(at, part);
      else viewer.socket.send(part);
    }
    expect(await viewer.untilEnd()).toEqual({ code: 1000, reason: '{"exit_code":0,"signal":null}' });
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(sha256(readFileSync(file))).toBe(sha256(input));
    if (numbered) expect(viewer.all('accepted').at(-1)?.accepted_bytes).toBe(1_000_000);
    const { stdin } = await (await gateway.fetch(`/processes/${process_id}`)).json();
    expect(stdin.accepted_bytes).toBe(1_000_000);
  });
});

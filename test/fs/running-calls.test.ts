import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { codeOf, Scratch } from './scratch.js';

const scratch = new Scratch();

/** A body that gives its first part at once, and its last when it is told. */
function slowBody(): { body: AsyncIterable<Uint8Array>; taken: Promise<void>; finish: () => void } {
  let finish = () => {};
  let take = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const taken = new Promise<void>((resolve) => {
    take = resolve;
  });
  const body = (async function* () {
    yield Buffer.from('one ');
    take();
    await finished;
    yield Buffer.from('two');
  })();
  return { body, taken, finish };
}

describe('the end of a file system', () => {
  test('aborts the calls that change something, and waits until they have left nothing behind', async () => {
    const { files } = scratch;
    const { body, taken } = slowBody();
    const written = codeOf(files.writeFile(scratch.at('file'), body));
    await taken;
    await files.close();
    expect(readdirSync(scratch.path(''))).toEqual([]);
    expect(await written).toBe('shutting_down');
    expect(await codeOf(files.writeFile(scratch.at('file'), Buffer.from('late')))).toBe('shutting_down');
  });

  test('lets a call end that needs less than its patience, and waits no longer than for that', async () => {
    const { files } = scratch;
    const { body, taken, finish } = slowBody();
    const written = files.writeFile(scratch.at('file'), body);
    await taken;
    const closed = files.close(600_000);
    finish();
    expect(await written).toMatchObject({ created: true, metadata: { size_bytes: 7 } });
    await closed;
  });

  test('a second one that has no patience ends the first', async () => {
    const { files } = scratch;
    const { body, taken } = slowBody();
    const written = codeOf(files.writeFile(scratch.at('file'), body));
    await taken;
    const closed = files.close(600_000);
    await files.close();
    await closed;
    expect(await written).toBe('shutting_down');
  });

  test('a caller who leaves still ends its own call alone', async () => {
    const { files } = scratch;
    const [mine, other] = [slowBody(), slowBody()];
    const left = new AbortController();
    const written = codeOf(files.writeFile(scratch.at('mine'), mine.body, { signal: left.signal }));
    const others = files.writeFile(scratch.at('other'), other.body);
    await Promise.all([mine.taken, other.taken]);
    left.abort('left');
    expect(await written).toBe('left');
    other.finish();
    expect(await others).toMatchObject({ created: true });
  });
});

import { expect, test } from 'vitest';
import { bundleClient } from '../support/client-bundle.js';

test('the client is built from itself, the protocol and the event-stream parser, and no module of Node', async () => {
  const { code, moduleIds, imports, dynamicImports } = await bundleClient();
  const root = new URL('../../', import.meta.url).pathname;
  const folders = moduleIds.map((id) =>
    id
      .replace(root, '')
      .replace(/^.*\/(?=node_modules\/)/, '')
      .replace(/\/[^/]*$/, ''),
  );
  expect([...new Set(folders)].sort()).toEqual(['node_modules/eventsource-parser/dist', 'src/client', 'src/protocol']);
  expect([...imports, ...dynamicImports]).toEqual([]);
  expect(code).not.toMatch(/\bBuffer\b|\brequire\(|node:/);
  expect(code.length).toBeLessThan(46 * 1024);
});

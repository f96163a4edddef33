import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createListener, type Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { RunScene } from './run-scene.js';
import { type Ended, spawnCli } from './spawn-cli.js';

const scene = new RunScene();
const { local, environment } = scene;
const open: { close(): unknown }[] = [];

afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

const says =
  (status: number, type: string, body: string): RequestListener =>
  (_, reply) =>
    reply.writeHead(status, { 'content-type': type }).end(body);

/** What a person may have named in place of a gateway. */
const STRANGERS: Record<string, () => Server> = {
  'a web page': () => createServer(says(200, 'text/html', '<html>')),
  'JSON of another kind': () => createServer(says(200, 'application/json', '{}')),
  'JSON that is no object': () => createServer(says(200, 'application/json', 'null')),
  'an error page': () => createServer(says(502, 'text/html', '<html>')),
  'another protocol': () => createListener((socket) => socket.on('error', () => {}).end('SSH-2.0-x\r\n')),
  'nobody in the end': () => createListener((socket) => socket.on('error', () => {}).destroy()),
};

const port = async (server: Server): Promise<number> => {
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

const call = (url: string, words: string[]): Promise<Ended> =>
  spawnCli([...words.slice(0, 1), '--url', url, ...words.slice(1)], { env: { EXEC_GATEWAY_TOKEN: 'x'.repeat(20) } }).ended;

const LINE = /^exec-gateway \w+: .*\[upstream_unreachable\] \(.*\)\n$/;

describe.each(Object.entries(STRANGERS))('where %s answers', (_, create) => {
  test.each([[['run', '--retry-for', '0s', '--', 'true']], [['attach', '--retry-for', '0s', 'x']], [['wait', '--retry-for', '0s', 'x']]])(
    '%j tells one line',
    async (words) => {
      const { code, stdout, stderr } = await call(`http://127.0.0.1:${await port(create())}`, words);
      expect([code, stdout.length]).toEqual([125, 0]);
      expect(stderr).toMatch(LINE);
    },
  );
});

test('a gateway without TLS is told as one in one line', async () => {
  const { code, stderr } = await call(scene.gateway.server.url.replace('http:', 'https:'), ['run', '--retry-for', '0s', 'true']);
  expect(code).toBe(125);
  expect(stderr).toMatch(/^exec-gateway run: The gateway at https:\S+ cannot be reached: SSL routines: wrong version number\. .*\n$/);
});

test('a socket where nobody listens is named as it was given', async () => {
  const { stderr } = await call('unix:/nowhere/socket', ['run', '--retry-for', '0s', 'true']);
  expect(stderr).toMatch(/^exec-gateway run: The gateway at unix:\/nowhere\/socket cannot be reached: .*ENOENT.*\n$/);
});

test('who interrupts a start that nobody answers any more is not told that the gateway was reached', async () => {
  const refused = await port(createListener((socket) => socket.on('error', () => {}).destroy()));
  const { child, ended } = spawnCli(['run', '--url', `http://127.0.0.1:${refused}`, 'true'], { env: environment() });
  child.stderr.once('data', () => child.kill('SIGTERM'));
  expect(await ended).toMatchObject({ code: 143, stderr: 'exec-gateway run: the gateway cannot be reached, trying again…\n' });
});

test.each([`$EG run -- echo "$(printf 'a\\377b')"`, `X=$(printf '\\377') $EG run --env X -- true`])(
  'what is not UTF-8 is refused, and not passed on as something else: %s',
  async (line) => {
    const { code, stdout, stderr } = await local(line);
    expect([code, stdout.length]).toEqual([125, 0]);
    expect(stderr).toContain('is not UTF-8');
  },
);

import { describe, expect, test } from 'vitest';
import { exchange, requestText } from './raw-connection.js';
import { useGateway } from './use-gateway.js';

const gateway = useGateway({ flags: ['--log-level', 'debug'] });

const token = () => gateway.server.token as string;
const swapped = (at: number) => {
  const text = token();
  return `${text.slice(0, at)}${text[at] === 'x' ? 'y' : 'x'}${text.slice(at + 1)}`;
};

/** The body of the refusal to a request with these header lines. */
async function refusal(lines: string[], path = '/processes'): Promise<{ status: number | undefined; body: string }> {
  const reply = await exchange(gateway.port, requestText(`GET ${path} HTTP/1.1`, [`Host: 127.0.0.1:${gateway.port}`, ...lines]));
  return { status: reply?.status, body: reply?.body ?? '' };
}

describe('B52 every wrong token', () => {
  const wrong: [kind: string, lines: () => string[]][] = [
    ['no header', () => []],
    ['an empty header', () => ['Authorization:']],
    ['the scheme alone', () => ['Authorization: Bearer']],
    ['an empty token', () => ['Authorization: Bearer ']],
    ['one character', () => ['Authorization: Bearer x']],
    ['the first character wrong', () => [`Authorization: Bearer ${swapped(0)}`]],
    ['the last character wrong', () => [`Authorization: Bearer ${swapped(token().length - 1)}`]],
    ['one too few', () => [`Authorization: Bearer ${token().slice(0, -1)}`]],
    ['one too many', () => [`Authorization: Bearer ${token()}x`]],
    ['the token twice', () => [`Authorization: Bearer ${token()}${token()}`]],
    ['another case', () => [`Authorization: Bearer ${token().toUpperCase()}`]],
    ['bytes that are not ASCII', () => ['Authorization: Bearer \xe9\xe8\xff\x80']],
    ['UTF-8', () => [`Authorization: Bearer ${Buffer.from('tökén').toString('latin1')}`]],
    ['8 KiB', () => [`Authorization: Bearer ${'x'.repeat(8192)}`]],
    ['no scheme', () => [`Authorization: ${token()}`]],
    ['another scheme', () => [`Authorization: Basic ${token()}`]],
    ['basic credentials', () => [`Authorization: Basic ${Buffer.from(`x:${token()}`).toString('base64')}`]],
    ['a scheme that begins like ours', () => [`Authorization: BearerX ${token()}`]],
    ['a comma after', () => [`Authorization: Bearer ${token()}, Basic x`]],
    ['more after it', () => [`Authorization: Bearer ${token()} x`]],
    ['quotes', () => [`Authorization: Bearer "${token()}"`]],
    ['the right one after a wrong one', () => ['Authorization: Bearer x', `Authorization: Bearer ${token()}`]],
    ['the right one before a wrong one', () => [`Authorization: Bearer ${token()}`, 'Authorization: Bearer x']],
    ['the right one twice', () => [`Authorization: Bearer ${token()}`, `Authorization: Bearer ${token()}`]],
    ['another header', () => [`X-Authorization: Bearer ${token()}`, `Proxy-Authorization: Bearer ${token()}`]],
    ['a cookie', () => [`Cookie: token=${token()}; access_token=${token()}`]],
  ];

  test.each(wrong)('is 401 with the same body: %s', async (_kind, lines) => {
    const without = await refusal([]);
    expect(await refusal(lines())).toEqual({ status: 401, body: without.body });
    expect(JSON.parse(without.body).code).toBe('unauthorized');
  });

  test('of 64 KiB is refused for its size', async () => {
    expect((await refusal([`Authorization: Bearer ${'x'.repeat(65_536)}`])).status).toBe(431);
  });

  test.each(['Bearer', 'bearer', 'BEARER', 'Bearer  '])('but the right one passes after %j', async (scheme) => {
    expect((await refusal([`Authorization: ${scheme} ${token()}`])).status).toBe(200);
  });

  test('is refused on every address but the probes, also on one that does not exist', async () => {
    for (const path of [
      '/processes',
      '/processes/x',
      '/processes/x/events',
      '/events',
      '/metrics',
      '/openapi.json',
      '/',
      '/no/such',
      '/run',
    ]) {
      expect([path, (await refusal([], path)).status]).toEqual([path, 401]);
    }
    for (const path of ['/healthz', '/readyz']) expect([path, (await refusal([], path)).status]).toEqual([path, 200]);
  });

  test('is told how to authenticate', async () => {
    const reply = await fetch(`${gateway.server.url}/processes`);
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  });
});

describe('B53 a token in the address', () => {
  test('is refused everywhere, and adds nothing to a request without a header', async () => {
    const { process_id } = await gateway.start(['true']);
    for (const name of ['token', 'access_token', 'auth', 'ticket', 'authorization']) {
      for (const path of [
        '/processes',
        `/processes/${process_id}`,
        `/processes/${process_id}/output`,
        `/processes/${process_id}/events`,
        '/events',
      ]) {
        const query = `?${name}=${token()}`;
        expect([path, (await refusal([], path + query)).status]).toEqual([path, 401]);
        expect([path, (await refusal([gateway.authorization], path + query)).status]).toEqual([path, 400]);
      }
    }
    const user = gateway.server.url.replace('//', `//x:${token()}@`);
    await expect(fetch(`${user}/processes`)).rejects.toThrow(TypeError);
  });

  test('no log line and no error body ever holds it, at debug level too', async () => {
    const { process_id } = await gateway.start(['sh', '-c', 'echo $0', 'argument-secret'], {
      env: { SECRET: 'env-secret' },
      pipe_stdin: true,
    });
    await gateway.send('POST', `/processes/${process_id}/stdin`, { text: 'stdin-secret' });
    const bodies: string[] = [];
    for (const [method, path, body] of [
      ['GET', `/processes?token=${token()}`, null],
      ['GET', `/none?token=${token()}`, null],
      ['POST', `/run?token=${token()}`, '{"argv":["no-such-program-argument-secret"]}'],
      ['POST', '/processes', `{"argv":["true"],"token":"${token()}"}`],
      ['PATCH', `/processes?token=${token()}`, null],
      ['GET', `/processes/${process_id}/events?token=${token()}`, null],
    ] as const) {
      const reply = await gateway.fetch(path, { method, body, headers: { 'content-type': 'application/json' } });
      bodies.push(await reply.text());
      expect(reply.status).toBeGreaterThanOrEqual(400);
    }
    await exchange(gateway.port, `GET /x?token=${token()} HTTP/9.9\r\nAuthorization: Bearer ${token()}\r\n\r\n`);
    await exchange(
      gateway.port,
      `GET /%zz?token=${token()} HTTP/1.1\r\nHost: 127.0.0.1:${gateway.port}\r\n${gateway.authorization}\r\n\r\n`,
    );
    await exchange(gateway.port, `GET / HTTP/1.1\r\nHost: ${token()}\r\n${gateway.authorization}\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`);
    const { stdout, stderr } = gateway.server.output;
    expect(stderr.split('\n').filter((line) => line.includes('"msg":"request"')).length).toBeGreaterThan(7);
    for (const text of [stdout, stderr, ...bodies]) expect(text).not.toContain(token());
    for (const secret of ['Bearer ', 'env-secret', 'stdin-secret', 'argument-secret', 'token=']) expect(stderr).not.toContain(secret);
  });

  test('a child is not given it, in its environment or by the command line of the gateway', async () => {
    for (const tty of [true, false]) {
      const argv = ['sh', '-c', 'env; tr "\\0" "\\n" < /proc/$PPID/cmdline'];
      const reply = await gateway.send('POST', '/run', { argv, tty, env_policy: { inherit: 'all' } });
      const { stdout } = (await reply.json()) as { stdout: string };
      expect(stdout).toMatch(/PATH=/);
      expect(stdout).toMatch(/serve/);
      expect(stdout).not.toContain(token());
      expect(stdout).not.toContain('EXEC_GATEWAY');
    }
  });
});

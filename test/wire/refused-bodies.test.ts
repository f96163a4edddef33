import { expect, test } from 'vitest';
import { RawConnection, requestText } from './raw-connection.js';
import { useGateway } from './use-gateway.js';

const LIMIT = 65_536;
const gateway = useGateway({ flags: ['--max-body-bytes', String(LIMIT)] });
const own = () => [`Host: 127.0.0.1:${gateway.port}`, gateway.authorization];

/** More than the system holds for a connection: the caller is still sending when it is refused. */
const BODY = 'x'.repeat(8_000_000);

test.each(['application/json', 'application/octet-stream'])(
  'a body that is too large is refused while it comes, and the connection goes on after it: %s',
  async (type) => {
    const { process_id } = await gateway.start(['cat'], { pipe_stdin: true });
    for (const length of [`Content-Length: ${BODY.length}`, 'Transfer-Encoding: chunked']) {
      const body = length.startsWith('T') ? `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n` : BODY;
      const connection = await RawConnection.open(gateway.port);
      connection.send(requestText(`POST /processes/${process_id}/stdin HTTP/1.1`, [...own(), `Content-Type: ${type}`, length], body));
      expect([length, (await connection.reply())?.status]).toEqual([length, 413]);
      connection.send(requestText('GET /healthz HTTP/1.1', own()));
      expect([length, await connection.until((text) => text.includes('HTTP/1.1 200'))]).toEqual([length, true]);
      connection.destroy();
    }
  },
);

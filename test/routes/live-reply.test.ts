import fastify from 'fastify';
import { expect, it } from 'vitest';
import { addErrors } from '../../src/plugins/errors.js';
import type { GatewayApp } from '../../src/plugins/gateway-app.js';
import { liveReply } from '../../src/routes/live-reply.js';

it('batches of any size leave in their order', async () => {
  const batches = Array.from({ length: 200 }, (_, i) => Buffer.alloc(i % 3 === 0 ? 5_000 : 10, i));
  const app = fastify();
  app.get('/', (_request, reply) =>
    liveReply(
      reply,
      new AbortController().signal,
      async () =>
        (async function* () {
          yield* batches;
        })(),
      () => ({ headers: {}, encode: (bytes: Buffer) => bytes, complete: () => true }),
    ),
  );
  try {
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    const body = Buffer.from(await (await fetch(url)).arrayBuffer());
    expect(body.equals(Buffer.concat(batches))).toBe(true);
  } finally {
    await app.close();
  }
});

it('a caller who waits for the beginning when the gateway ends is told so', async () => {
  const app = fastify();
  addErrors(app as unknown as GatewayApp, 1000);
  const end = new AbortController();
  app.get('/', (_request, reply) =>
    liveReply(
      reply,
      end.signal,
      (signal) =>
        new Promise<AsyncIterable<never>>((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
          end.abort();
        }),
      () => null,
    ),
  );
  try {
    const { statusCode, body } = await app.inject('/');
    expect([statusCode, JSON.parse(body).code]).toEqual([503, 'shutting_down']);
  } finally {
    await app.close();
  }
});

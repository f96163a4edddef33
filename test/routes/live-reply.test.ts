import fastify from 'fastify';
import { expect, it } from 'vitest';
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

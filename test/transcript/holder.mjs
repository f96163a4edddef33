// A program that holds processes itself, in a data directory: `holder.mjs DIR`. Its settings come as JSON by variable.
import { buildApp, DEFAULT_CONFIG, Environment } from '../../dist/index.js';

const { clock_ms, ...settings } = JSON.parse(process.env.HOLDER);
if (clock_ms !== undefined) {
  const System = Date;
  // A clock that somebody has set, and that stands still.
  globalThis.Date = class extends System {
    constructor(...given) {
      super(...(given.length === 0 ? [clock_ms] : given));
    }

    static now() {
      return clock_ms;
    }
  };
}
const tellTrouble = (what) => process.stderr.write(`${what}\n`);
const environment = Environment.create({ data_dir: process.argv[2], tellTrouble, ...settings });
const ends = new AbortController();
const probes = {
  ready: async () => {},
  stats: () => environment.stats(),
  shutting_down: () => false,
  stopping: ends.signal,
  streamsEnd: ends.signal,
};
const config = { ...DEFAULT_CONFIG, token: 'holder', listen: { kind: 'tcp', host: '127.0.0.1', port: 0 }, log_level: 'silent' };
const app = buildApp(config, environment, probes);
process.stdout.write(`${await app.listen({ host: '127.0.0.1', port: 0 })}\n`);

process.once('SIGTERM', async () => {
  ends.abort();
  await environment.close(500);
  const closed = app.close();
  // A connection that a client opened in advance and never used would be waited for.
  app.server.closeAllConnections();
  await closed;
});

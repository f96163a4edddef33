import type { Registry } from 'prom-client';
import type { GatewayApp } from '../plugins/gateway-app.js';
import type { Probes } from '../plugins/probes.js';
import type { RequestCounts } from '../plugins/request-log.js';
import { NO_STATS, type ProcessStats } from '../protocol/process-stats.js';
import { LoopDelay, type LoopDelays } from './loop-delay.js';
import { NoQuery } from './parameters.js';

const GAUGES: [name: string, help: string, stat: keyof ProcessStats][] = [
  ['exec_gateway_processes_running', 'Processes that are not closed.', 'running'],
  ['exec_gateway_processes_retained', 'Closed processes that are still readable.', 'retained'],
  ['exec_gateway_output_retained_bytes', 'Output held in memory.', 'retained_bytes'],
  ['exec_gateway_transcript_bytes', 'Output on disk, in the data directory.', 'transcript_bytes'],
];

const COUNTERS: [name: string, help: string, stat: keyof ProcessStats][] = [
  ['exec_gateway_processes_started_total', 'Processes started.', 'started_total'],
  ['exec_gateway_processes_exited_total', 'Processes that ended.', 'exited_total'],
  ['exec_gateway_output_bytes_total', 'Output of all processes.', 'output_bytes_total'],
  ['exec_gateway_transcript_failures_total', 'Writes to the data directory that failed.', 'transcript_failures_total'],
];

const DELAYS: [name: string, help: string, delay: keyof LoopDelays][] = [
  ['exec_gateway_event_loop_delay_p50_seconds', 'How late the event loop came round, half of the time at most.', 'p50'],
  ['exec_gateway_event_loop_delay_p99_seconds', 'How late it came round, 99 % of the time at most.', 'p99'],
  ['exec_gateway_event_loop_delay_max_seconds', 'How late it came round at worst.', 'max'],
];

/** Settings that are shown. */
interface Shown {
  /** Limits, by their names after `exec_gateway_limit_`. */
  limits: Readonly<Record<string, number>>;
  version: string;
}

/** `GET /metrics`, in the text format of Prometheus. */
export function metricsRoute(app: GatewayApp, probes: Probes, counts: RequestCounts, shown: Shown): void {
  let registry: Promise<Registry> | undefined;
  const delay = new LoopDelay();
  app.addHook('onClose', (_app, done) => {
    delay.stop();
    done();
  });
  app.get('/metrics', { schema: { querystring: NoQuery } }, async (_request, reply) => {
    delay.ask();
    registry ??= createRegistry(probes, counts, delay, shown);
    const { contentType, metrics } = await registry.then(async (known) => ({
      contentType: known.contentType,
      metrics: await known.metrics(),
    }));
    return reply.header('content-type', contentType).send(metrics);
  });
}

/** The library is loaded by the first who asks: a start without a scrape does without it. */
async function createRegistry(probes: Probes, counts: RequestCounts, delay: LoopDelay, { limits, version }: Shown): Promise<Registry> {
  const { Counter, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  const registers = [registry];
  const gauge = (name: string, help: string, value: () => number | Promise<number>) => {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set(await value());
      },
    });
  };
  const stats = latestStats(probes);
  for (const [name, help, stat] of GAUGES) gauge(name, help, async () => (await stats())[stat]);
  for (const [name, help, stat] of COUNTERS) {
    new Counter({
      name,
      help,
      registers,
      async collect() {
        const now = await stats();
        this.reset();
        this.inc(now[stat]);
      },
    });
  }
  for (const [name, help, stat] of DELAYS) gauge(name, help, () => delay.read()[stat]);
  for (const [name, limit] of Object.entries(limits)) gauge(`exec_gateway_limit_${name}`, 'A limit of this gateway.', () => limit);
  gauge('exec_gateway_http_requests_in_flight', 'Requests under way, streams among them.', () => counts.in_flight);
  gauge('process_resident_memory_bytes', 'Memory of the gateway itself.', () => process.memoryUsage.rss());
  new Counter({
    name: 'exec_gateway_http_requests_total',
    help: 'Requests answered or broken off.',
    labelNames: ['method', 'route', 'status'],
    registers,
    collect() {
      this.reset();
      for (const [key, count] of counts.finished) {
        const [method = '', route = '', status = ''] = key.split(' ');
        this.inc({ method, route, status }, count);
      }
    },
  });
  new Gauge({ name: 'exec_gateway_build_info', help: 'Always 1; the version is the label.', labelNames: ['version'], registers }).set(
    { version },
    1,
  );
  return registry;
}

/** Asks once for all metrics of a scrape. What cannot be reached now is told as it was when it could. */
function latestStats({ stats }: Probes): () => Promise<ProcessStats> {
  let last = NO_STATS;
  let asked: Promise<ProcessStats> | null = null;
  const ask = async () => {
    try {
      last = await stats();
    } catch {
      // A scrape is not the place to tell of it.
    }
    return last;
  };
  return () => {
    asked ??= ask().finally(() => {
      asked = null;
    });
    return asked;
  };
}

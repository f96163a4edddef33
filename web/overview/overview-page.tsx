import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { BASE_URL } from '../base-url.js';
import { Chart } from './chart.js';
import { limitsOf } from './limits.js';
import { failure, followMetrics, moments, version } from './metrics-history.js';
import { pointsOf, SERIES } from './series.js';

/** How the gateway fares, and what it is. It takes the focus, since it scrolls. */
export function OverviewPage(): JSX.Element {
  useEffect(followMetrics, []);
  return (
    <section class="page overview-page" aria-labelledby="overview-title" tabindex={0}>
      <header class="page-head">
        <h1 id="overview-title">Overview</h1>
      </header>
      {failure.value !== null && (
        <p class="failure" role="alert">
          {failure.value}
        </p>
      )}
      <Charts />
      <Facts />
    </section>
  );
}

/** Only what this gateway measures has a chart. */
function Charts(): JSX.Element {
  const all = moments.value;
  const last = all.at(-1);
  const known = SERIES.filter(({ metric }) => all.some(({ values }) => values.has(metric)));
  return (
    <div class="charts">
      {known.map((series) => (
        <Chart key={series.metric} series={series} points={pointsOf(series, all)} now={last?.at ?? 0} />
      ))}
    </div>
  );
}

function Facts(): JSX.Element {
  return (
    <div class="overview-facts">
      <Table caption="Gateway" rows={[['Version', version.value ?? '–'], ['Address', BASE_URL], ...countsOf()]} />
      <Table caption="Limits" rows={limitsOf(moments.value.at(-1)?.values)} />
    </div>
  );
}

const COUNTS: [what: string, metric: string][] = [
  ['Processes started', 'exec_gateway_processes_started_total'],
  ['Processes ended', 'exec_gateway_processes_exited_total'],
  ['Ended ones kept', 'exec_gateway_processes_retained'],
  ['Requests answered', 'exec_gateway_http_requests_total'],
  ['Requests under way', 'exec_gateway_http_requests_in_flight'],
];

function countsOf(): [string, string][] {
  const values = moments.value.at(-1)?.values;
  return COUNTS.map(([what, metric]) => [what, values?.get(metric)?.toLocaleString('en') ?? '–']);
}

function Table({ caption, rows }: { caption: string; rows: [string, string][] }): JSX.Element {
  return (
    <table class="fact-table">
      <caption>{caption}</caption>
      <tbody>
        {rows.map(([what, value]) => (
          <tr key={what}>
            <th scope="row">{what}</th>
            <td>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

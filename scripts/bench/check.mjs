// `npm run bench:check [ROUNDS]`: how long the gateway takes for each thing it does, as a multiple of what HTTP from Node takes by itself.
// Both are measured by turns, each time with a fresh server, and the medians compared. Fails when one is above its limit.
import { median, SCENARIOS } from './scenarios.mjs';
import { Target } from './target.mjs';

/** The largest multiple of each scenario. A machine at other work gives other figures: see docs/performance.md for what is usual. */
const LIMITS = {
  startToEnd: 0.9,
  sixteenAtATime: 0.7,
  output: 1.2,
  echo: 1.75,
  echoTo10: 2,
  echoTo100: 2,
  echoTo1000: 1.5,
  sleeping: 1.6,
  waiting: 1.25,
  answered: 2,
};

const rounds = Number(process.argv[2] ?? 5);
const only = process.argv.slice(3);
const failed = [];
for (const [name, limit] of Object.entries(LIMITS)) {
  if (only.length > 0 && !only.includes(name)) continue;
  const { bare, gateway } = await measure(SCENARIOS[name]);
  const ratio = gateway / bare;
  if (ratio > limit) failed.push(name);
  console.log(`${name.padEnd(15)} bare ${shown(bare)}  gateway ${shown(gateway)}  ${ratio.toFixed(2)} x, at most ${limit}`);
}
console.log(failed.length === 0 ? 'All within their limits.' : `Above the limit: ${failed.join(', ')}.`);
process.exitCode = failed.length === 0 ? 0 : 1;

async function measure(scenario) {
  const figures = { bare: [], gateway: [] };
  for (let round = 0; round < rounds; round++) {
    const names = round % 2 === 0 ? ['bare', 'gateway'] : ['gateway', 'bare'];
    for (const name of names) figures[name].push(await Target.use(name, [], scenario));
  }
  return { bare: median(figures.bare), gateway: median(figures.gateway) };
}

function shown(value) {
  return value.toFixed(3).padStart(9);
}

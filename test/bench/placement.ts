import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Mean } from './placement/mean.ts';
import { PLACERS } from './placement/placers.ts';
import { comeAndGo, fillUp, type Outcome } from './placement/replay.ts';
import { BUILT_IN_HOSTS, BUILT_IN_MIXES, readHosts, readSizes } from './placement/trace.ts';

/**
 * Measures how well placement packs GPUs. It replays the same requests in the same order through our
 * placement and through four other strategies. The figures are means over the seeds.
 *
 * Without options it uses a built-in fleet with built-in request mixes. --nodes and --trace name
 * files of a public trace instead; docs/contributors/benchmarks.md says where to download one.
 */
const USAGE = `usage: pnpm bench:placement [--nodes FILE --trace FILE [--trace FILE …]] [--seeds N]
Without --nodes and --trace a built-in synthetic trace is used.
docs/contributors/benchmarks.md says where to download the public traces.`;
const LOADS = [0.9, 1.0, 1.1];
const GOAL = { allocatedPoints: 0.5, rejected8: 1.1, splitPercent: 1 };
/** The goals apply to this one. The variant that may split VMs is shown for comparison only. */
const OURS = 'gantry';
const VARIANT = 'may split';

const { values } = parseArgs({
  options: {
    nodes: { type: 'string' },
    trace: { type: 'string', multiple: true },
    seeds: { type: 'string', default: '10' },
  },
});
if ((values.nodes === undefined) !== (values.trace === undefined)) {
  fail('--nodes and --trace are used together.');
}
for (const file of [...(values.nodes ? [values.nodes] : []), ...(values.trace ?? [])]) {
  if (!existsSync(file)) fail(`${file} does not exist.`);
}
const hosts = values.nodes ? readHosts(values.nodes) : BUILT_IN_HOSTS;
const mixes = values.trace
  ? values.trace.map((file) => ({ name: file, sizes: readSizes(file) }))
  : BUILT_IN_MIXES;
const large = hosts.filter((numa) => numa.reduce((sum, gpus) => sum + gpus, 0) === 8);
let missed = 0;
for (const { name, sizes } of mixes) {
  console.log(`\n${name}: ${sizes.length} requests with GPUs`);
  compare(`filled to 130 % demand, ${hosts.length} hosts`, sizes, (make, seed) =>
    fillUp({ hosts, sizes, make, seed }),
  );
  for (const load of LOADS)
    compare(
      `departures, offered load ${load.toFixed(1)}, ${large.length} hosts of 8 GPUs`,
      sizes,
      (make, seed) => comeAndGo({ hosts: large, sizes, make, seed, load }),
    );
}
console.log(missed === 0 ? '\nall goals met' : `\n${missed} goals MISSED`);
process.exitCode = missed === 0 ? 0 : 1;

function fail(problem: string): never {
  console.error(`${problem}\n${USAGE}`);
  process.exit(2);
}

type Run = (make: (typeof PLACERS)[string], seed: number) => Outcome;

function compare(title: string, sizes: number[], run: Run): void {
  const kinds = [...new Set(sizes)].sort((a, b) => a - b);
  console.log(`\n${title}`);
  console.log(
    `${'placer'.padEnd(14)} ${'GPUs %'.padStart(7)} ${'whole'.padStart(7)}  ` +
      `rejected % ${kinds.map((size) => `${size}x`.padStart(6)).join(' ')}   ` +
      `split % ${kinds.map((size) => `${size}x`.padStart(6)).join(' ')}`,
  );
  const results = new Map<string, Mean>();
  for (const [name, make] of Object.entries(PLACERS)) {
    const seeds = Array.from({ length: Number(values.seeds) }, (_, i) => i + 1);
    const mean = new Mean(seeds.map((seed) => run(make, seed)));
    results.set(name, mean);
    const rejected = kinds.map((size) => mean.rejectedPercent(size).toFixed(2).padStart(6));
    const split = kinds.map((size) => mean.splitPercent([size]).toFixed(2).padStart(6));
    console.log(
      `${name.padEnd(14)} ${mean.allocated.toFixed(2).padStart(7)} ${mean.whole.toFixed(1).padStart(7)}  ` +
        `           ${rejected.join(' ')}           ${split.join(' ')}`,
    );
  }
  judge(results);
}

function judge(results: Map<string, Mean>): void {
  const own = results.get(OURS);
  const others = [...results]
    .filter(([name]) => name !== OURS && name !== VARIANT)
    .map(([, mean]) => mean);
  if (!own) return;
  const most = Math.max(...others.map(({ allocated }) => allocated));
  goal(
    `GPUs allocated ${own.allocated.toFixed(2)} %, best of the others ${most.toFixed(2)} %`,
    own.allocated >= most - GOAL.allocatedPoints,
  );
  const fewest = Math.min(...others.map((mean) => mean.count('rejected', 8)));
  const rejected = own.count('rejected', 8);
  goal(
    `8-GPU requests rejected ${rejected.toFixed(1)} a seed, best of the others ${fewest.toFixed(1)}`,
    rejected <= fewest * GOAL.rejected8,
  );
  const split = own.splitPercent([2, 4]);
  goal(`2- and 4-GPU VMs split ${split.toFixed(2)} %`, split <= GOAL.splitPercent);
}

function goal(text: string, met: boolean): void {
  if (!met) missed += 1;
  console.log(`  ${met ? 'met   ' : 'MISSED'} ${text}`);
}

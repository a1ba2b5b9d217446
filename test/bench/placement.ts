import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { missedGoals, row } from './fleet/table.ts';
import { gantry, OTHERS, SPLITTING } from './placement/placers.ts';
import { inProportion, poolsOf, type TracePool } from './placement/pools.ts';
import { comeAndGo, sumOf } from './placement/replay.ts';
import type { MakePlacer } from './placement/scanning.ts';
import { SIZES, type Summary, summaryOf } from './placement/summary.ts';
import {
  BUILT_IN_HOSTS,
  BUILT_IN_TRACES,
  readHosts,
  readTrace,
  type Trace,
} from './placement/trace.ts';

/**
 * Measures how well placement packs GPUs, cores and memory. VMs come and go; the same requests in
 * the same order go through our placement and through other strategies with the same admission
 * rules. The figures are medians over the seeds.
 *
 * Without options it uses a built-in fleet with built-in requests. --nodes and --trace name files of
 * a public trace instead; docs/contributors/benchmarks.md says where to download one.
 */
const USAGE = `usage: pnpm bench:placement [--nodes FILE --trace FILE [--trace FILE …]] [--seeds N] [--loads LIST]
Without --nodes and --trace a built-in synthetic trace is used.
docs/contributors/benchmarks.md says where to download the public traces.`;
/** In mean lifetimes of a VM. */
const WINDOW = { warmUp: 6, measured: 4 };
/** Seeds differ by more than this, in percentage points. */
const TOLERANCE = { gpus: 0.1, requests: 1 };
const SPLITS = 'best-fit, splits';

const { values } = parseArgs({
  options: {
    nodes: { type: 'string' },
    trace: { type: 'string', multiple: true },
    seeds: { type: 'string', default: '3' },
    loads: { type: 'string', default: '0.7,0.8,0.9,1.0,1.1' },
  },
});
if ((values.nodes === undefined) !== (values.trace === undefined)) {
  fail('--nodes and --trace are used together.');
}
for (const file of [...(values.nodes ? [values.nodes] : []), ...(values.trace ?? [])]) {
  if (!existsSync(file)) fail(`${file} does not exist.`);
}
const seeds = Array.from({ length: Number(values.seeds) }, (_, i) => i + 1);
const loads = values.loads.split(',').map(Number);
if (seeds.length === 0 || !loads.every((load) => load > 0))
  fail('--seeds is a number and --loads a list of positive numbers.');

const hosts = values.nodes ? readHosts(values.nodes) : BUILT_IN_HOSTS;
const traces = values.trace ? values.trace.map(readTrace) : BUILT_IN_TRACES;
for (const trace of traces) {
  introduce(trace);
  const pools = poolsOf(hosts, trace.requests);
  for (const load of loads) compare(`cores and memory of the trace, load ${load}`, pools, load);
  const plain = pools.map(inProportion);
  for (const load of loads) compare(`cores and memory in proportion, load ${load}`, plain, load);
}
const missed = missedGoals();
console.log(missed === 0 ? '\nall goals met' : `\n${missed} goals MISSED`);
process.exitCode = missed === 0 ? 0 : 1;

function fail(problem: string): never {
  console.error(`${problem}\n${USAGE}`);
  process.exit(2);
}

function introduce({ name, requests, fractions, withoutGpus }: Trace): void {
  const whole = requests.reduce((sum, { count }) => sum + count, 0);
  console.log(`\n${name}: ${whole} requests of ${requests.length} kinds for whole GPUs`);
  console.log(
    `Left out, because Gantry passes whole GPUs through: ${fractions} requests for a part of a GPU, ` +
      `${withoutGpus} without GPUs.`,
  );
  console.log(
    'Each GPU model is offered the load in its scarcest resource, by the requests that it could hold.',
  );
}

function compare(title: string, pools: TracePool[], load: number): void {
  console.log(`\n${title}`);
  const sizes = SIZES.map((size) => `${size}x`.padStart(6)).join(' ');
  console.log(`${'strategy'.padEnd(17)} allocated %  rejected: GPUs %, ${sizes} %   split %`);
  const run = (make: MakePlacer) =>
    summaryOf(
      seeds.map((seed) =>
        sumOf(
          pools.map((pool, i) =>
            comeAndGo({ pool, make, seed: seed * 100 + i, load, window: WINDOW }),
          ),
        ),
      ),
    );
  const results = new Map<string, Summary>();
  for (const [name, make] of Object.entries({ ...OTHERS, [SPLITS]: SPLITTING, gantry })) {
    const summary = run(make);
    if (name !== SPLITS) results.set(name, summary);
    print(name, summary);
  }
  judge(results);
}

function print(name: string, { allocated, rejectedGpus, rejected, split }: Summary): void {
  const bySize = rejected.map((percent) => percent.toFixed(2).padStart(6)).join(' ');
  console.log(
    `${name.padEnd(17)} ${allocated.toFixed(2).padStart(11)}  ${rejectedGpus.toFixed(2).padStart(15)}  ${bySize}     ${split.toFixed(2)}`,
  );
}

/**
 * Compares with the strategy that rejects the fewest GPUs, in total and by size. The least of all
 * strategies for each size is no goal: a strategy that rejects all large VMs rejects few small ones.
 */
function judge(results: Map<string, Summary>): void {
  const own = results.get('gantry');
  const others = [...results].filter(([name]) => name !== 'gantry');
  const [best] = others.toSorted(([, a], [, b]) => a.rejectedGpus - b.rejectedGpus);
  if (!own || !best) return;
  const [name, other] = best;
  const limit = (figure: number) => Number(figure.toFixed(2));
  row(`GPUs allocated; ${name}: ${other.allocated.toFixed(2)}`, own.allocated, '%', {
    least: limit(other.allocated - TOLERANCE.gpus),
  });
  row(`GPUs rejected; ${name}: ${other.rejectedGpus.toFixed(2)}`, own.rejectedGpus, '%', {
    most: limit(other.rejectedGpus + TOLERANCE.gpus),
  });
  SIZES.forEach((size, i) => {
    const [ours = 0, theirs = 0] = [own.rejected[i], other.rejected[i]];
    row(`${size}x rejected; ${name}: ${theirs.toFixed(2)}`, ours, '%', {
      most: limit(theirs + TOLERANCE.requests),
    });
  });
  row('GPUs in split VMs', own.split, '%', { most: 0 });
}

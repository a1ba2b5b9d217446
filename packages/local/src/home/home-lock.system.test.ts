import { spawn } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { killHard, makeScratch, type Scratch } from '../testing/scratch.ts';
import { openHome } from './home.ts';
import { lockHome } from './home-lock.ts';

let scratch: Scratch;

beforeAll(async () => {
  scratch = await makeScratch();
});
afterAll(() => scratch.clean());

const leave = async (directory: string, holder: { pid: number; identity: string }) => {
  await mkdir(`${directory}/launcher`, { recursive: true });
  await writeFile(`${directory}/launcher/4`, JSON.stringify(holder));
};

describe('the home lock', () => {
  test('tells a second launcher which process holds the home', async () => {
    const home = await openHome(scratch.home('held'));
    const lock = await lockHome(home);
    await expect(lockHome(home)).rejects.toThrow(
      `in use by process ${process.pid}, still starting`,
    );
    await lock.announce('http://127.0.0.1:1');
    await expect(lockHome(home)).rejects.toThrow(`process ${process.pid}, at http://127.0.0.1:1`);
  });

  test('goes to exactly one of many launchers after its holder died', async () => {
    const home = await openHome(scratch.home('raced'));
    const dead = spawn('sleep', ['600'], { stdio: 'ignore' });
    await killHard(dead.pid);
    await leave(home.directory, { pid: dead.pid ?? 0, identity: 'whatever' });
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => lockHome(home)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await readdir(home.file('launcher'))).toEqual(['5']);
  });

  test('is not held by another program that has the process id of a dead holder', async () => {
    const home = await openHome(scratch.home('recycled'));
    await leave(home.directory, { pid: process.pid, identity: 'of another life' });
    await lockHome(home);
  });

  test('can be taken if its file is damaged', async () => {
    const home = await openHome(scratch.home('damaged'));
    await mkdir(home.file('launcher'));
    await writeFile(home.file('launcher/1'), '{"pid": 1');
    await lockHome(home);
  });
});

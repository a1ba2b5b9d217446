import { appendFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readNewLogs } from './new-logs.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-logs-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const log = (name: string, text: string) => appendFile(path.join(directory, name), text);

it('returns what was added, with the end of what was there, and nothing if nothing was added', async () => {
  const newLogs = readNewLogs(directory);
  await log('api.log', `${'x'.repeat(1_000_000)}\nthe first half`);
  await log('notes.txt', 'not a log');
  expect(newLogs().map(({ name, text }) => [name, text.length])).toEqual([['api.log', 1_000_015]]);
  expect(newLogs()).toEqual([]);
  await log('api.log', ' and the second');
  await log('scheduler.log', 'started');
  const [api, scheduler] = newLogs();
  expect(api?.text).toMatch(/the first half and the second$/);
  expect(api?.text.length).toBeLessThan(100_000);
  expect(scheduler).toEqual({ name: 'scheduler.log', text: 'started' });
});

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CephHelper, type HelperCrash, makeCephHelper } from './helper-process.ts';

let directory: string;
let helper: CephHelper;
let crashes: HelperCrash[];
beforeEach(async () => {
  crashes = [];
  directory = await mkdtemp(path.join(tmpdir(), 'gantry-helper-'));
});
afterEach(async () => {
  helper.close();
  await rm(directory, { recursive: true, force: true });
});

/** A program that counts its starts, and is ended by this signal at its first call, as often as wanted. */
async function startHelper({ times, by }: { times: number; by: string }): Promise<void> {
  const program = path.join(directory, 'program.mjs');
  await writeFile(
    program,
    `import { appendFileSync, readFileSync } from 'node:fs';
    import { createInterface } from 'node:readline';
    const starts = ${JSON.stringify(path.join(directory, 'starts'))};
    appendFileSync(starts, 'x');
    const ends = readFileSync(starts, 'utf8').length <= ${times};
    createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, arguments: given } = JSON.parse(line);
      if (id === undefined) return;
      if (ends) process.kill(process.pid, ${JSON.stringify(by)});
      else console.log(JSON.stringify({ id, result: method + ' ' + given.value }));
    });`,
  );
  const connection = { user: 'gantry', conf: {} };
  helper = makeCephHelper({
    ...{ connection, limitMs: 60_000, command: [process.execPath, program] },
    onCrash: (crash) => crashes.push(crash),
  });
}
const starts = async () => (await readFile(path.join(directory, 'starts'), 'utf8')).length;
const UNREACHABLE = { code: 'unreachable' };

describe('a helper whose library crashes', () => {
  it('is started again, and does all calls that were under way', async () => {
    await startHelper({ times: 1, by: 'SIGABRT' });
    const calls = [1, 2, 3].map((value) => helper.call('copy', { value }));
    await expect(Promise.all(calls)).resolves.toEqual(['copy 1', 'copy 2', 'copy 3']);
    expect(await starts()).toBe(2);
  });

  it('is reported with the signal and the calls that were under way', async () => {
    await startHelper({ times: 1, by: 'SIGABRT' });
    await Promise.all([helper.call('copy', { value: 1 }), helper.call('grow', { value: 2 })]);
    expect(crashes).toEqual([{ signal: 'SIGABRT', methods: ['copy', 'grow'] }]);
  });

  it('fails a call at which it crashes a second time, and does the next one', async () => {
    await startHelper({ times: 2, by: 'SIGABRT' });
    await expect(helper.call('copy', { value: 1 })).rejects.toMatchObject(UNREACHABLE);
    expect(await starts()).toBe(2);
    await expect(helper.call('copy', { value: 2 })).resolves.toBe('copy 2');
  });
});

it('a helper that is killed fails the calls that were under way, and its successor does the next one', async () => {
  await startHelper({ times: 1, by: 'SIGKILL' });
  await expect(helper.call('copy', { value: 1 })).rejects.toMatchObject(UNREACHABLE);
  await expect(helper.call('copy', { value: 2 })).resolves.toBe('copy 2');
  expect(crashes).toEqual([]);
});

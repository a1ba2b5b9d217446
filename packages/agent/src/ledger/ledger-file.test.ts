import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeSpec, makeVm } from '../testing/make-spec.ts';
import { type LedgerContent, NO_FACTS } from './ledger.ts';
import { LedgerError, ledgerFile } from './ledger-file.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ledger-'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const CONTENT: LedgerContent = {
  version: 1,
  spec: { ...makeSpec(1, { vms: [makeVm('vm-1')] }), number: '18446744073709551615' },
  vms: { 'vm-1': { ...NO_FACTS, generation: '7' } },
};

it('the file returns what was written, and nothing before the first write', async () => {
  const store = ledgerFile(join(directory, 'made', 'if', 'missing'));
  expect(await store.read()).toBeNull();
  await store.write(CONTENT);
  expect(await store.read()).toEqual(CONTENT);
});

it('a VM that an earlier version of the agent stored has the fields that were added since', async () => {
  const { sshKeys: _, userData: _none, image, ...others } = makeVm('vm-1');
  const { id: _no, ...source } = image ?? { id: '' };
  const stored = { ...others, image: source };
  const store = ledgerFile(directory);
  await writeFile(
    store.path,
    JSON.stringify({ ...CONTENT, spec: makeSpec(1, { vms: [stored as never] }) }),
  );
  expect((await store.read())?.spec?.vms).toEqual([makeVm('vm-1')]);
});

it('the file is readable by its owner only, because specs contain tenants’ scripts', async () => {
  const store = ledgerFile(directory);
  await store.write(CONTENT);
  expect((await stat(store.path)).mode & 0o777).toBe(0o600);
});

it('a partial file beside it, as after a crash, changes nothing', async () => {
  const store = ledgerFile(directory);
  await store.write(CONTENT);
  await writeFile(`${store.path}.new`, '{"version":1,"sp');
  expect(await store.read()).toEqual(CONTENT);
  await store.write({ ...CONTENT, vms: {} });
  expect((await store.read())?.vms).toEqual({});
  expect(await readdir(directory)).toEqual(['ledger.json']);
});

describe('a damaged file', () => {
  it.each([
    ['empty', ''],
    ['cut off', JSON.stringify(CONTENT).slice(0, -9)],
    ['of another version', JSON.stringify({ ...CONTENT, version: 2 })],
    ['without VMs', JSON.stringify({ version: 1, spec: null })],
    ['with no spec at all', JSON.stringify({ version: 1, vms: {} })],
    ['a list', '[]'],
  ])('(%s) is an error that names the file, and never an empty ledger', async (_how, text) => {
    const store = ledgerFile(directory);
    await writeFile(store.path, text);
    await expect(store.read()).rejects.toThrow(LedgerError);
    await expect(store.read()).rejects.toThrow(store.path);
    expect(await readFile(store.path, 'utf8')).toBe(text);
  });
});

/** Writes ledgers as fast as it can, each larger than one page, and says which it has finished. */
const WRITER = `
  import { ledgerFile } from '${join(import.meta.dirname, 'ledger-file.ts')}';
  const store = ledgerFile(process.argv[1]);
  for (let n = 1; ; n += 1) {
    const vms = Object.fromEntries(Array.from({ length: 50 }, (_, i) => ['vm-' + i, { generation: String(n), interfaces: ['x'.repeat(200)] }]));
    await store.write({ version: 1, spec: null, vms });
    process.stdout.write(n + '\\n');
  }
`;

it('a process that is killed while it writes leaves a complete ledger, at least as new as its last finished write', async () => {
  for (let round = 0; round < 3; round += 1) {
    const args = ['--import', 'tsx', '--input-type=module', '-e', WRITER, directory];
    const writer = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let told = '';
    writer.stdout.on('data', (chunk) => {
      told += chunk;
      if (told.split('\n').length > 20 + round) writer.kill('SIGKILL');
    });
    await once(writer, 'close');
    const finished = Number(told.trimEnd().split('\n').at(-1));
    const { vms = {} } = (await ledgerFile(directory).read()) ?? {};
    const written = new Set(Object.values(vms).map(({ generation }) => Number(generation)));
    expect(written.size).toBe(1);
    expect(Math.min(...written)).toBeGreaterThanOrEqual(finished);
  }
}, 240_000);

import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSettingsReader } from '@gantry/daemon/settings';
import type { ReceiptProperty } from '@gantry/model/receipt-property';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Cleaning, Device } from '../../../host-driver.ts';
import { ImitatedServer } from '../../testing/imitated-server.ts';
import { vfioDevices } from '../../vfio-devices.ts';
import { readGpuSettings } from './gpu-kind.ts';

const gpu: Device = { vmId: 'vm-1', kind: 'gpu', address: '0000:41:00.0' };
const MODEL = '10de:2235';
const TENANT_DATA = Buffer.alloc(256 * 1024, 'weights of a tenant ');

/** Overwrites the memory of the card, reads it back, and reports what it found. */
const CLEANER = `#!/bin/sh
set -e
memory=$GANTRY_PCI_DIRECTORY/resource1
size=$(wc -c < "$memory")
echo "cleaning $GANTRY_PCI_FUNCTIONS"
head -c "$size" /dev/zero > "$memory.zeros"
cat "$memory.zeros" > "$memory"
cmp "$memory" "$memory.zeros"
rm "$memory.zeros"
echo "memory verified $size bytes of $GANTRY_GPU_MODEL overwritten with zeros and read back"
echo "ecc_mode verified enabled"
`;

let server: ImitatedServer;

beforeEach(async () => {
  server = await ImitatedServer.make();
  await server.add(gpu.address, { deviceClass: '030200', driver: 'nouveau', group: 7 });
  await writeFile(server.memoryPath(gpu.address), TENANT_DATA);
});
afterEach(() => server.remove());

type Cleaner = NonNullable<ImitatedServer['cleaner']>;

async function useCleaner(script: string, over: Partial<Cleaner> = {}): Promise<void> {
  const command = join(server.root, 'cleaner.sh');
  await writeFile(command, script);
  await chmod(command, 0o755);
  server.cleaner = { command, timeoutMs: 60_000, requiredFor: [MODEL], ...over };
}

async function release(): Promise<Cleaning> {
  const devices = vfioDevices(server.options());
  await devices.bind(gpu, []);
  return await devices.release(gpu);
}

const statesOf = ({ properties = [] }: Cleaning) =>
  Object.fromEntries(properties.map(({ name, state }) => [name, state]));
const memoryOf = ({ properties = [] }: Cleaning): ReceiptProperty | undefined =>
  properties.find(({ name }) => name === 'memory');

describe('the receipt of a GPU', () => {
  it('does not claim that its memory is clean if nothing overwrote or read it', async () => {
    const cleaning = await release();
    expect(cleaning).toMatchObject({ method: 'flr', failure: null });
    expect(statesOf(cleaning)).toEqual({
      ...{ reset: 'verified', identity: 'verified', error_counters: 'not_applicable' },
      ...{ ecc_mode: 'not_verified', mig_mode: 'not_verified' },
      ...{ confidential_computing_mode: 'not_verified', memory: 'not_verified' },
    });
    expect(await readFile(server.memoryPath(gpu.address))).toEqual(TENANT_DATA);
  });

  it('says that its memory is clean if the operator’s program overwrote it and read it back', async () => {
    await useCleaner(CLEANER);
    const cleaning = await release();
    const memory = await readFile(server.memoryPath(gpu.address));
    expect(memory).toEqual(Buffer.alloc(TENANT_DATA.length));
    expect(cleaning.failure).toBeNull();
    expect(memoryOf(cleaning)).toEqual({
      ...{ name: 'memory', state: 'verified' },
      detail: `262144 bytes of ${MODEL} overwritten with zeros and read back`,
    });
    expect(statesOf(cleaning)).toMatchObject({ reset: 'verified', ecc_mode: 'verified' });
    expect(await server.driverOf(gpu.address)).toBe('nouveau');
  });

  it.each([
    ['exits with an error', '#!/bin/sh\necho "memory verified"\necho broken >&2\nexit 3', /broken/],
    ['reports nothing', '#!/bin/sh\necho done', /reported nothing/],
    ['found the memory dirty', '#!/bin/sh\necho memory not_verified 3 pages', /3 pages/],
    ['takes too long', '#!/bin/sh\nsleep 600', /longer than 0.2 s/],
    ['cannot be started', 'not a program', /cleaner failed/],
  ])('keeps a card of a model that requires cleaning if the program %s', async (_, script, why) => {
    const isLong = script.includes('sleep');
    await useCleaner(script, isLong ? { timeoutMs: 200 } : {});
    const cleaning = await release();
    expect(cleaning.failure).toMatchObject({
      ...{ code: 'memory_not_cleaned', message: expect.stringMatching(why) },
    });
    expect(memoryOf(cleaning)?.state).toBe('not_verified');
    expect(await server.driverOf(gpu.address)).toBe('vfio-pci');
  });

  it('accepts a card of another model without a successful program, and says why', async () => {
    await useCleaner('#!/bin/sh\nexit 1', { requiredFor: ['10de:20b5'] });
    const cleaning = await release();
    expect(cleaning.failure).toBeNull();
    expect(memoryOf(cleaning)).toMatchObject({ state: 'not_verified' });
  });
});

describe('the settings of the cleaner', () => {
  const read = (env: Record<string, string>) => readGpuSettings(createSettingsReader(env)).cleaner;
  const GANTRY_GPU_CLEANER = '/usr/local/sbin/clean-gpu';

  it('name the program, its time limit and the models that require it', () => {
    expect(read({})).toBeUndefined();
    expect(
      read({ GANTRY_GPU_CLEANER, GANTRY_GPU_CLEANER_REQUIRED: '10DE:20b5, 10de:2235' }),
    ).toEqual({
      ...{ command: GANTRY_GPU_CLEANER, timeoutMs: 600_000, requiredFor: ['10de:20b5', MODEL] },
    });
    expect(read({ GANTRY_GPU_CLEANER, GANTRY_GPU_CLEANER_REQUIRED: 'all' })).toMatchObject({
      requiredFor: 'all',
    });
  });

  it.each(
    [
      [
        'GANTRY_GPU_CLEANER_REQUIRED needs GANTRY_GPU_CLEANER',
        { GANTRY_GPU_CLEANER_REQUIRED: 'all' },
      ],
      ['must be an absolute path', { GANTRY_GPU_CLEANER: 'clean-gpu' }],
      ['not "A100"', { GANTRY_GPU_CLEANER, GANTRY_GPU_CLEANER_REQUIRED: '10de:20b5,A100' }],
    ].map(([message, env]) => ({ message: String(message), env: env as Record<string, string> })),
  )('are refused: $message', ({ message, env }) => {
    expect(() => read(env)).toThrow(message.startsWith('not') ? 'a100' : message);
  });
});

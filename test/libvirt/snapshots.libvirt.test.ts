import { randomBytes } from 'node:crypto';
import { open, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostSpec } from '@gantry/agent/spec';
import { makeDisk } from '@gantry/agent/testing/make-spec';
import { MIB } from '@gantry/daemon/units';
import type { DirectAgent } from '@gantry/testkit/real-host/direct-agent';
import {
  carriedOut,
  DOMAIN,
  type OneVmHost,
  startOneVmHost,
} from '@gantry/testkit/real-host/one-vm-host';
import { afterEach, beforeEach, expect, it } from 'vitest';

/** Snapshots of a disk that a real QEMU has open for writing. */
const DATA = makeDisk('data', { sizeBytes: String(64 * MIB), serialNumber: 'data' });
const POLL = { timeout: 120_000 };

let world: OneVmHost;
let agent: DirectAgent;
let number: number;
const fileOf = (name: string) =>
  join(world.environment['GANTRY_DATA_DIRECTORY'] ?? '', 'volumes', name);
const wanted = (): HostSpec => {
  const spec = world.wanted(1);
  return { ...spec, vms: spec.vms.map((vm) => ({ ...vm, disks: [...vm.disks, DATA] })) };
};
const give = (spec: Partial<HostSpec> = {}) => {
  number += 1;
  agent.give({ ...wanted(), number: String(number), ...spec });
};

beforeEach(async () => {
  number = 1;
  world = await startOneVmHost('snapshots');
  await world.driver.volumes.create(DATA, null);
  const file = await open(fileOf('data.raw'), 'r+');
  await file.write(randomBytes(32 * MIB), 0, 32 * MIB, 16 * MIB);
  await file.close();
  agent = await world.startAgent();
  await carriedOut(agent, wanted(), 'RUNNING');
});
afterEach(() => world.stop());

it('a disk that a running guest has open is copied by QEMU, and a disk from the snapshot outlives it', async () => {
  const content = await readFile(fileOf('data.raw'));
  await expect(
    world.driver.snapshots.make('s1', 'data', new AbortController().signal),
  ).rejects.toMatchObject({ code: 'disk_in_use' });
  give({ snapshots: [{ id: 's1', diskId: 'data', frozen: false }] });
  await expect.poll(() => agent.snapshot('s1')?.state, POLL).toBe('SNAPSHOT_STATE_READY');
  expect((await readFile(fileOf('s1.snapshot.raw'))).equals(content)).toBe(true);
  // What the guest never wrote takes no space.
  expect((await stat(fileOf('s1.snapshot.raw'))).blocks * 512).toBeLessThan(40 * MIB);
  expect(await world.virsh('domjobinfo', DOMAIN)).toContain('None');

  give({ diskCopies: [{ disk: { ...DATA, id: 'copy' }, snapshotId: 's1' }] });
  await expect.poll(() => world.driver.volumes.read('copy'), POLL).not.toBeNull();
  give({ deletedSnapshots: ['s1'] });
  await expect.poll(() => world.driver.snapshots.list(), POLL).toEqual([]);
  expect((await readFile(fileOf('copy.raw'))).equals(content)).toBe(true);
});

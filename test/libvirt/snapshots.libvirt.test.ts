import { randomBytes } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostSpec } from '@gantry/agent/spec';
import { makeDisk } from '@gantry/agent/testing/make-spec';
import { MIB } from '@gantry/daemon/units';
import type { DirectAgent } from '@gantry/testkit/real-host/direct-agent';
import { openGuestShell } from '@gantry/testkit/real-host/guest/guest-shell';
import {
  carriedOut,
  DOMAIN,
  type OneVmHost,
  startOneVmHost,
} from '@gantry/testkit/real-host/one-vm-host';
import { afterEach, beforeEach, expect, it } from 'vitest';

/**
 * Snapshots of the disk of a real guest. The guest writes every record twice: to the beginning of its disk, and then
 * behind data that takes a while to copy. A copy that is not of one moment has more records at the end.
 */
const RECORD_BYTES = 512;
const SECOND_MIB = 320;
const DATA = makeDisk('data', { sizeBytes: String(384 * MIB), serialNumber: 'data' });
const POLL = { timeout: 120_000 };

let world: OneVmHost;
let agent: DirectAgent;
let number: number;
const fileOf = (name: string) =>
  join(world.environment['GANTRY_DATA_DIRECTORY'] ?? '', 'volumes', name);
const give = (spec: Partial<HostSpec> = {}) => {
  number += 1;
  agent.give({ ...wanted(), number: String(number), ...spec });
};
const wanted = (): HostSpec => {
  const spec = world.wanted(1);
  return { ...spec, vms: spec.vms.map((vm) => ({ ...vm, disks: [...vm.disks, DATA] })) };
};
const stateOf = (id: string) => agent.snapshot(id)?.state;

/** Returns how many records there are at each of the two places, without a gap. */
async function countRecords(path: string): Promise<[number, number]> {
  const bytes = await readFile(path);
  const countFrom = (start: number) => {
    let count = 0;
    for (;;) {
      const from = start + count * RECORD_BYTES;
      if (Number(bytes.toString('latin1', from, from + RECORD_BYTES)) !== count + 1) break;
      count += 1;
    }
    const rest = bytes.subarray(start + count * RECORD_BYTES, start + 16 * MIB);
    expect(rest.every((byte) => byte === 0)).toBe(true);
    return count;
  };
  return [countFrom(0), countFrom(SECOND_MIB * MIB)];
}

async function startWriting(): Promise<void> {
  const { environment } = world;
  const socketPath = environment['GANTRY_LIBVIRT_SOCKET'] ?? '';
  const guest = await openGuestShell({ socketPath, domain: DOMAIN });
  const second = (SECOND_MIB * MIB) / RECORD_BYTES;
  const write = (seek: string) =>
    `dd of=/dev/vdb bs=${RECORD_BYTES} seek=${seek} conv=fsync,notrunc 2>/dev/null`;
  const script = `i=1; while :; do
    printf '%0${RECORD_BYTES}d' $i | ${write('$((i-1))')} || break;
    printf '%0${RECORD_BYTES}d' $i | ${write(`$((i-1+${second}))`)} || break;
    i=$((i+1)); echo $i >/run/next; done`;
  await expect.poll(() => guest.run('echo ready').catch(() => ''), POLL).toContain('ready');
  await guest.begin(script);
  const next = async () => Number(await guest.run('cat /run/next').catch(() => '0'));
  await expect.poll(next, POLL).toBeGreaterThan(3);
  await guest.close();
}

beforeEach(async () => {
  number = 1;
  world = await startOneVmHost('snapshots');
  await world.driver.volumes.create(DATA, null);
  const file = await open(fileOf('data.raw'), 'r+');
  for (let mib = 32; mib < SECOND_MIB - 32; mib += 1) {
    await file.write(randomBytes(MIB), 0, MIB, mib * MIB);
  }
  await file.close();
  agent = await world.startAgent();
  await carriedOut(agent, wanted(), 'RUNNING');
});
afterEach(() => world.stop());

it('a snapshot has the content of one moment while the guest writes, and so has a disk from it', async () => {
  await startWriting();
  give({ snapshots: [{ id: 's1', diskId: 'data', frozen: false }] });
  await expect.poll(() => stateOf('s1'), POLL).toBe('SNAPSHOT_STATE_READY');
  const [first, second] = await countRecords(fileOf('s1.snapshot.raw'));
  expect(first).toBeGreaterThan(3);
  expect([first, first - 1]).toContain(second);
  const now = await countRecords(fileOf('data.raw'));
  expect(now[0]).toBeGreaterThanOrEqual(first);

  give({ diskCopies: [{ disk: { ...DATA, id: 'copy' }, snapshotId: 's1' }] });
  await expect.poll(() => world.driver.volumes.read('copy'), POLL).not.toBeNull();
  expect(await countRecords(fileOf('copy.raw'))).toEqual([first, second]);
  give({ deletedSnapshots: ['s1'] });
  await expect.poll(() => world.driver.snapshots.list(), POLL).toEqual([]);
  expect(await countRecords(fileOf('copy.raw'))).toEqual([first, second]);
});

it('a copy in progress is continued by the agent that is started next', async () => {
  await startWriting();
  give({ snapshots: [{ id: 's1', diskId: 'data', frozen: false }] });
  await expect.poll(() => stateOf('s1'), POLL).toMatch(/TAKEN|READY/);
  await agent.stop();
  agent = await world.startAgent();
  give({ snapshots: [{ id: 's1', diskId: 'data', frozen: false }] });
  await expect.poll(() => stateOf('s1'), POLL).toBe('SNAPSHOT_STATE_READY');
  const [first, second] = await countRecords(fileOf('s1.snapshot.raw'));
  expect([first, first - 1]).toContain(second);
  expect(await world.virsh('domjobinfo', DOMAIN)).toContain('None');
});

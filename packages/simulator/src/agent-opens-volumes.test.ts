import {
  makeDisk,
  makeInterface,
  makeSpec,
  makeTakeDown,
  makeVm,
} from '@gantry/agent/testing/make-spec';
import { GIB } from '@gantry/daemon/units';
import { beforeEach, expect, it } from 'vitest';
import { AgentUnderTest, until } from './testing/agent-under-test.ts';

const KEY = 'QVFCc2VjcmV0';
const volume = (id: string, sizeGib = 1) =>
  makeDisk(id, {
    ...{ sizeBytes: String(sizeGib * GIB), exists: true },
    rbd: {
      ...{ monitors: ['10.0.0.1:3300'], pool: 'vol', image: id, user: `k-${id}`, key: KEY },
      passphrase: '',
    },
  });
const vm = (revision: number, disks = [volume('v1')]) =>
  makeVm('vm-1', { revision: String(revision), disks, image: null, interfaces: [] });

let host: AgentUnderTest;
beforeEach(async () => {
  host = new AgentUnderTest();
  await host.start();
});

it('a VM runs from a volume that the host did not create and does not list as its own', async () => {
  host.send(makeSpec(1, { vms: [vm(1)] }));
  await host.untilState('vm-1', '1', 'RUNNING');
  expect(host.vm('vm-1')?.disks).toEqual([{ id: 'v1', sizeBytes: String(GIB) }]);
  expect(host.report.disks).toEqual([]);
  expect(await host.driver.volumes.list()).toEqual([]);
});

it('an open volume grows with its VM, and others are attached and detached', async () => {
  host.send(makeSpec(1, { vms: [vm(1)] }));
  await host.untilState('vm-1', '1', 'RUNNING');
  host.send(makeSpec(2, { vms: [vm(2, [volume('v1', 2), volume('v2')])] }));
  await host.untilState('vm-1', '2', 'RUNNING');
  expect(host.vm('vm-1')?.disks).toEqual([
    { id: 'v1', sizeBytes: String(2 * GIB) },
    { id: 'v2', sizeBytes: String(GIB) },
  ]);
  host.send(makeSpec(3, { vms: [vm(3, [volume('v1', 2)])] }));
  await host.untilState('vm-1', '3', 'RUNNING');
  await until(() => host.vm('vm-1')?.disks?.length === 1);
});

it('a change of disks does not wait for interfaces that stay the same, and a change of interfaces does', async () => {
  const withInterfaces = (revision: number, ids: string[], disks = [volume('v1')]) =>
    makeVm('vm-1', {
      ...{ revision: String(revision), image: null, disks },
      interfaces: ids.map((id) => makeInterface(id)),
    });
  const { faults, network } = host.driver;
  host.send(makeSpec(1, { vms: [withInterfaces(1, ['i1'])] }));
  await host.untilState('vm-1', '1', 'RUNNING');
  faults.hang('ensure_interfaces');
  host.send(makeSpec(2, { vms: [withInterfaces(2, ['i1'], [volume('v1'), volume('v2')])] }));
  await host.untilState('vm-1', '2', 'RUNNING');
  faults.clear();
  // The interfaces are half changed, so they are set up again although the next spec has the earlier ones.
  const fault = { code: 'host_failed', message: 'interrupted' };
  faults.failNext('attach_disk', 9, fault);
  host.send(makeSpec(3, { vms: [withInterfaces(3, ['i2'], [volume('v1'), volume('v3')])] }));
  await until(() => {
    host.clock.advance(1_000);
    return host.vm('vm-1')?.failure?.code === 'host_failed';
  });
  expect(network.interfacesOf('vm-1')).toMatchObject([{ id: 'i2' }]);
  faults.clear();
  host.send(makeSpec(4, { vms: [withInterfaces(4, ['i1'])] }));
  await host.untilState('vm-1', '4', 'RUNNING');
  expect(network.interfacesOf('vm-1')).toMatchObject([{ id: 'i1' }]);
});

it('a volume outlives the VM that is taken down', async () => {
  host.send(makeSpec(1, { vms: [vm(1, [volume('v1', 2)])] }));
  await host.untilState('vm-1', '1', 'RUNNING');
  const gone = makeTakeDown('vm-1', { revision: '2', graceful: false, disks: ['v1'] });
  host.send(makeSpec(2, { takeDowns: [gone] }));
  await host.untilState('vm-1', '2', 'TAKEN_DOWN');
  host.send(makeSpec(3, { vms: [{ ...vm(3), generation: '2' }] }));
  await host.untilState('vm-1', '3', 'RUNNING');
  expect(host.vm('vm-1')?.disks).toEqual([{ id: 'v1', sizeBytes: String(2 * GIB) }]);
});

it.each([
  { monitors: [] },
  { monitors: ['10.0.0.1'] },
  { pool: 'vol/other' },
  { image: '' },
  { user: 'a b' },
  { key: '' },
])('a VM with the volume %j is refused', async (wrong) => {
  const disk = volume('v1');
  const rbd = { ...disk.rbd, ...wrong } as typeof disk.rbd;
  host.send(makeSpec(1, { vms: [vm(1, [{ ...disk, rbd }])] }));
  await until(() => host.vm('vm-1')?.failure?.code === 'bad_spec');
  expect(host.vm('vm-1')?.failure?.message).toContain('the volume of disk v1 has');
  expect(host.vm('vm-1')?.failure?.message).not.toContain(KEY);
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '@gantry/agent/base/clock';
import type { HostDriver } from '@gantry/agent/host-driver';
import { describeDomain } from '@gantry/agent/libvirt/domain-xml/describe-domain';
import { gpuServer, X86_KVM } from '@gantry/agent/libvirt/domain-xml/testing/gpu-server';
import { openLibvirt } from '@gantry/agent/libvirt/domains/open-libvirt';
import { LibvirtHypervisor } from '@gantry/agent/libvirt/libvirt-hypervisor';
import { createLog } from '@gantry/daemon/log';
import type { SimulatedHostDriver } from '@gantry/simulator/driver/simulated-host-driver';
import type { ByteLevelLibvirt } from './byte-level-libvirt.ts';

const log = createLog({ process: 'test', level: process.env['GANTRY_TEST_LOG'] ?? 'silent' });

/**
 * Returns the driver of a simulated host whose domains are those of a byte-level libvirt. `close` ends its
 * connections, as the end of an agent does.
 */
export async function driveLibvirt({
  libvirt,
  simulated,
  clock,
}: {
  libvirt: ByteLevelLibvirt;
  simulated: SimulatedHostDriver;
  clock: Clock;
}): Promise<{ driver: HostDriver; close(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'gantry-serial-'));
  const { socketPath } = libvirt;
  const opened = openLibvirt({ socketPath, serialLogDirectory: directory, log, clock });
  const { volumes, devices, network, seeds } = simulated;
  const hypervisor = new LibvirtHypervisor({
    ...{ ...opened, clock },
    volumes: { read: (id) => volumes.read(id), prepareGrowth: async () => {} },
    // The devices of simulated hosts have no place on a PCI bus.
    describe: async (vm, { present }) => {
      const generation = present?.facts.metadata?.generation ?? '0';
      const described = describeDomain({ ...vm, devices: [] }, gpuServer(X86_KVM, { generation }));
      return { ...described, metadata: { ...described.metadata, devices: vm.devices } };
    },
    describeDisk: () => Promise.reject(new Error('BUG: no disk is attached here')),
    devicesOf: async (vmId) =>
      new Set((await devices.list()).filter((d) => d.vmId === vmId).map((d) => d.address)),
    serialLogs: {
      ...{ path: (vmId) => join(directory, vmId), readTail: async () => '' },
      ...{ prepare: async () => {}, remove: async () => {} },
    },
    removeNvram: async () => {},
  });
  const driver: HostDriver = {
    ...{ hypervisor, volumes, devices, network, seeds },
    readBootId: () => simulated.readBootId(),
    readInventory: () => simulated.readInventory(),
  };
  return {
    driver,
    close: async () => {
      await opened.close();
      await rm(directory, { recursive: true });
    },
  };
}

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '@gantry/agent/base/clock';
import { HostFailure } from '@gantry/agent/base/failure';
import type { HostDriver } from '@gantry/agent/host-driver';
import { DomainShares } from '@gantry/agent/libvirt/domain-volumes/domain-shares';
import { DomainVolumes } from '@gantry/agent/libvirt/domain-volumes/domain-volumes';
import { describeDomain } from '@gantry/agent/libvirt/domain-xml/describe-domain';
import { gpuServer, X86_KVM } from '@gantry/agent/libvirt/domain-xml/testing/gpu-server';
import { openLibvirt } from '@gantry/agent/libvirt/domains/open-libvirt';
import { LibvirtHypervisor } from '@gantry/agent/libvirt/libvirt-hypervisor';
import { ShareMounts } from '@gantry/agent/volumes/cephfs/share-mounts';
import { createLog } from '@gantry/daemon/log';
import type { SimulatedHostDriver } from '@gantry/simulator/driver/simulated-host-driver';
import { domainGetXmlDesc } from 'node-libvirt/generated/procedures';
import type { ByteLevelLibvirt } from './byte-level-libvirt.ts';

const log = createLog({ process: 'test', level: process.env['GANTRY_TEST_LOG'] ?? 'silent' });

export type DrivenLibvirt = {
  driver: HostDriver;
  /** Gives up one call of each kind about a locked domain, as the driver does after its time limits. */
  giveUp(vmId: string): Promise<void>;
  /** Ends the connections, as the end of an agent does. */
  close(): Promise<void>;
};

/** Drives a simulated host whose domains are those of a byte-level libvirt. */
export async function driveLibvirt({
  libvirt,
  simulated,
  clock,
}: {
  libvirt: ByteLevelLibvirt;
  simulated: SimulatedHostDriver;
  clock: Clock;
}): Promise<DrivenLibvirt> {
  const directory = await mkdtemp(join(tmpdir(), 'gantry-serial-'));
  const { socketPath } = libvirt;
  const opened = openLibvirt({ socketPath, serialLogDirectory: directory, log, clock });
  const { volumes, snapshots, devices, network, seeds } = simulated;
  const run = () => Promise.reject(new Error('BUG: nothing is mounted here'));
  const mounts = new ShareMounts({ directory: join(directory, 'shares'), run });
  const shares = new DomainShares({ ...opened, mounts, clock, log });
  const hypervisor = new LibvirtHypervisor({
    ...{ ...opened, clock },
    volumes: { read: (id) => volumes.read(id), prepareGrowth: async () => {} },
    domainVolumes: new DomainVolumes({ ...opened, shares, log }),
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
    ...{ hypervisor, volumes, snapshots, devices, network, seeds },
    readBootId: () => simulated.readBootId(),
    readInventory: () => simulated.readInventory(),
  };
  return {
    driver,
    giveUp: async (vmId) => {
      const uuid = Buffer.from(vmId.replaceAll('-', ''), 'hex');
      const args = { dom: { name: '', id: -1, uuid }, flags: 0 };
      // The last one makes further calls of all kinds fail.
      for (const lane of ['read', 'change', 'end'] as const) {
        await opened.lines
          .run(vmId, lane, (connection) =>
            connection.call(domainGetXmlDesc, args, { timeoutMs: 1 }),
          )
          .catch(requireSilence);
      }
    },
    close: async () => {
      await opened.close();
      await rm(directory, { recursive: true });
    },
  };
}

function requireSilence(error: unknown): void {
  if (!(error instanceof HostFailure && error.code === 'vm_unresponsive')) throw error;
}

import type { CardPlaces } from '../devices/card-places.ts';
import { tapName } from '../network/kernel/names.ts';
import type { IsoSeeds } from '../seed/iso-seeds.ts';
import type { DiskSpec, VmSpec } from '../spec.ts';
import type { VolumeDriver } from '../volumes/volume-driver.ts';
import type { HostNode } from './domain-xml/choose-cells.ts';
import { type DescribedDisks, describeDisks, slotsOf } from './domain-xml/describe-disks.ts';
import { describeDomain } from './domain-xml/describe-domain.ts';
import type { DomainDefinition, Platform } from './domain-xml/domain-definition.ts';
import type { DomainFacts } from './domain-xml/read-domain.ts';
import type { SerialLogFiles } from './serial-log.ts';

type Host = {
  platform: Platform;
  vhostNet: boolean;
  volumes: Pick<VolumeDriver, 'locate'>;
  seeds: Pick<IsoSeeds, 'path'>;
  serialLogs: Pick<SerialLogFiles, 'path'>;
  mtu: number;
  directIo: boolean;
  lockMemory: boolean;
  nvramPath(vmId: string): string;
  /** Where the devices are on the host; stand-ins have no place. */
  placesOf(addresses: readonly string[]): Promise<CardPlaces>;
  numaNodes(): Promise<readonly HostNode[]>;
};

/**
 * Collects from the rest of the host where the parts of a VM are, and describes them as a domain.
 */
export function domainDescriber(host: Host) {
  const { platform, vhostNet, volumes, directIo } = host;

  const sourcesOf = async (disks: readonly DiskSpec[]) => {
    const sources = await Promise.all(disks.map((disk) => volumes.locate(disk)));
    const byId = new Map(disks.map(({ id }, index) => [id, sources[index]]));
    return ({ id }: DiskSpec) => {
      const source = byId.get(id);
      if (!source) throw new Error(`BUG: disk ${id} was not located`);
      return source;
    };
  };

  return {
    async describe(vm: VmSpec, present: DomainFacts | null): Promise<DomainDefinition> {
      return describeDomain(vm, {
        ...{ platform, vhostNet, directIo },
        sourceOf: await sourcesOf(vm.disks),
        slots: present ? slotsOf(present) : new Map(),
        seedPath: host.seeds.path(vm.id),
        nvramPath: host.nvramPath(vm.id),
        serialLogPath: host.serialLogs.path(vm.id),
        nicOf: (nic) => ({ tap: tapName(nic.id), mtu: host.mtu }),
        ...(await host.placesOf(vm.devices.map(({ address }) => address))),
        numaNodes: await host.numaNodes(),
        lockMemory: host.lockMemory,
        generation: present?.metadata?.generation ?? '0',
      });
    },

    async describeDisk(disk: DiskSpec, present: DomainFacts): Promise<DescribedDisks> {
      return describeDisks([disk], {
        directIo,
        sourceOf: await sourcesOf([disk]),
        slots: slotsOf(present),
        iothreads: present.iothreads,
      });
    },
  };
}

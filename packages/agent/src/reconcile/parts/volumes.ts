import { HostFailure } from '../../base/failure.ts';
import { type DiskSpec, type Image, isBelow, type VmSpec } from '../../spec.ts';
import type { HostContext } from '../host-context.ts';
import { findDomain, type Part } from './part.ts';

/** The disks: made, and grown under the guest or at rest. */
export const volumes: Part = {
  name: 'volumes',

  async ensure(host, vm) {
    for (const disk of vm.disks) {
      const existing = await host.driver.volumes.read(disk.id);
      if (existing === null) await make(host, vm, disk);
      else if (isBelow(existing.sizeBytes, disk.sizeBytes)) await grow(host, vm, disk);
    }
  },

  async remove(host, vm) {
    for (const diskId of vm.disks) await host.driver.volumes.remove(diskId);
  },
};

/** Noted first: a disk that nobody remembers would lie here for ever. */
async function make(host: HostContext, vm: VmSpec, disk: DiskSpec): Promise<void> {
  const image = sourceOf(vm, disk);
  const { madeDisks } = host.ledger.facts(vm.id);
  if (!madeDisks.includes(disk.id))
    await host.ledger.updateFacts(vm.id, { madeDisks: [...madeDisks, disk.id] });
  await host.driver.volumes.create(disk, image);
}

/** Null for a disk that begins empty, as every one but the boot disk does. */
function sourceOf(vm: VmSpec, disk: DiskSpec): Image | null {
  const isBootDisk = disk.id === vm.disks[0]?.id;
  if (disk.exists || (isBootDisk && vm.image === null)) {
    throw new HostFailure('disk_missing', `the disk ${disk.id} is not on this host`);
  }
  if (!isBootDisk || vm.image === null) return null;
  if (vm.image.url === '' || vm.image.sha256 === '') {
    throw new HostFailure('image_unavailable', `the image ${vm.image.name} has no source`);
  }
  return vm.image;
}

/** An emulator that has a disk open must grow it itself. */
async function grow(host: HostContext, vm: VmSpec, disk: DiskSpec): Promise<void> {
  const domain = await findDomain(host, vm.id);
  const isLive = domain?.state === 'running' && domain.disks.some(({ id }) => id === disk.id);
  if (isLive) await host.driver.hypervisor.growDisk(vm.id, disk);
  else await host.driver.volumes.grow(disk);
}

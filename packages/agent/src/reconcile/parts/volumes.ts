import { HostFailure } from '../../base/failure.ts';
import { type DiskSpec, type Image, isBelow, type VmSpec } from '../../spec.ts';
import type { HostContext } from '../host-context.ts';
import { findDomain, type Part } from './part.ts';

/** The disks: created, and grown while the guest runs or not. */
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

/** Recorded before the disk exists, because a disk that is not recorded would never be removed. */
async function make(host: HostContext, vm: VmSpec, disk: DiskSpec): Promise<void> {
  const image = sourceOf(vm, disk);
  const { madeDisks } = host.ledger.facts(vm.id);
  if (!madeDisks.includes(disk.id))
    await host.ledger.updateFacts(vm.id, { madeDisks: [...madeDisks, disk.id] });
  await host.driver.volumes.create(disk, image);
}

/** Returns null for a disk that starts empty, which is every disk except the boot disk. */
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

/** If the emulator has the disk open, the emulator must grow it. */
async function grow(host: HostContext, vm: VmSpec, disk: DiskSpec): Promise<void> {
  const domain = await findDomain(host, vm.id);
  const isLive = domain?.state === 'running' && domain.disks.some(({ id }) => id === disk.id);
  if (isLive) await host.driver.hypervisor.growDisk(vm.id, disk);
  else await host.driver.volumes.grow(disk);
}

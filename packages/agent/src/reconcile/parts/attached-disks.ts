import type { VmSpec } from '../../spec.ts';
import type { HostContext } from '../host-context.ts';
import { findDomain } from './part.ts';

/** Attaches missing disks to a running guest and detaches the others, without a restart. */
export async function ensureAttachedDisks(host: HostContext, vm: VmSpec): Promise<void> {
  const domain = await findDomain(host, vm.id);
  if (domain?.state !== 'running') return;
  const { hypervisor } = host.driver;
  const wanted = new Set(vm.disks.map((disk) => disk.id));
  const attached = new Set(domain.disks.map((disk) => disk.id));
  for (const id of attached) {
    if (!wanted.has(id)) await hypervisor.detachDisk(vm.id, id);
  }
  for (const disk of vm.disks) {
    if (!attached.has(disk.id)) await hypervisor.attachDisk(vm.id, disk);
  }
}

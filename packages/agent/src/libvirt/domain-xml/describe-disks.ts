import { HostFailure } from '../../base/failure.ts';
import type { DiskSpec } from '../../spec.ts';
import type { DiskSource } from '../../volumes/disk-source.ts';
import { DISK_SLOTS, type DiskDefinition, type FilesystemDefinition } from './domain-definition.ts';
import type { DomainFacts } from './read-domain.ts';

/** What the disks of a domain depend on besides their specs. */
export type DiskHost = {
  sourceOf(disk: DiskSpec): DiskSource;
  /** Whether the disks' file systems support direct I/O. */
  directIo: boolean;
  iothreads: number;
  /** The slots of the present domain: the disks of a running guest keep their slots. */
  slots: ReadonlyMap<string, number>;
};

export type DescribedDisks = {
  disks: readonly DiskDefinition[];
  filesystems: readonly FilesystemDefinition[];
};

/**
 * Describes all disks of a VM, or one disk for a running domain with its `slots` and `iothreads`.
 */
export function describeDisks(specs: readonly DiskSpec[], host: DiskHost): DescribedDisks {
  const slots = chooseSlots(specs, host.slots);
  const disks: DiskDefinition[] = [];
  const filesystems: FilesystemDefinition[] = [];
  for (const { id, readOnly, ...spec } of specs) {
    const slot = slots.get(id) ?? 0;
    const source = host.sourceOf({ id, readOnly, ...spec });
    if (source.type === 'directory') {
      filesystems.push({ id, slot, path: source.path, readOnly });
    } else {
      const iothread = 1 + (slot % Math.max(1, host.iothreads));
      const { blockSize, serialNumber: serial, tune = {} } = spec;
      const { directIo } = host;
      disks.push({ id, slot, source, serial, blockSize, readOnly, directIo, iothread, tune });
    }
  }
  return { disks, filesystems };
}

/** Returns the slots of a domain's disks and shared directories. */
export function slotsOf(facts: DomainFacts): Map<string, number> {
  const slots = new Map<string, number>();
  for (const { id, slot } of [...facts.disks, ...facts.filesystems]) {
    if (id !== null && slot !== null) slots.set(id, slot);
  }
  return slots;
}

/** A disk with a slot keeps it; the others get the first free slots. */
function chooseSlots(
  specs: readonly DiskSpec[],
  taken: ReadonlyMap<string, number>,
): Map<string, number> {
  const slots = new Map(taken);
  const used = new Set(taken.values());
  let next = 0;
  for (const { id } of specs) {
    if (slots.has(id)) continue;
    while (used.has(next)) next += 1;
    if (next >= DISK_SLOTS) {
      const message = `there is no slot for disk ${id}: a VM has at most ${DISK_SLOTS} disks`;
      throw new HostFailure('too_many_disks', message);
    }
    slots.set(id, next);
    used.add(next);
  }
  return slots;
}

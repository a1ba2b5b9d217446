import type { DeviceKind } from '@gantry/model/host-states';
import type { DiskSpec__Output } from '@gantry/proto/generated/gantry/v1/DiskSpec';
import type { FirewallRule__Output } from '@gantry/proto/generated/gantry/v1/FirewallRule';
import type { HostSpec__Output } from '@gantry/proto/generated/gantry/v1/HostSpec';
import type { Image__Output } from '@gantry/proto/generated/gantry/v1/Image';
import type { InterfaceSpec__Output } from '@gantry/proto/generated/gantry/v1/InterfaceSpec';
import type { NetworkSpec__Output } from '@gantry/proto/generated/gantry/v1/NetworkSpec';
import type { VmSpec__Output } from '@gantry/proto/generated/gantry/v1/VmSpec';
import type { VmTakeDown__Output } from '@gantry/proto/generated/gantry/v1/VmTakeDown';
import { type IoTune, tuneOf } from './disk-limits.ts';

/** One device of the host. */
export type DeviceRef = { kind: DeviceKind; address: string };

/**
 * A host's desired state as it arrives: unset fields have their defaults, 64-bit numbers are decimal
 * text. The link has put its pieces together. The agent refuses a spec with an unknown kind of device,
 * so every kind in it is a known one.
 */
export type HostSpec = Omit<
  HostSpec__Output,
  'vms' | 'takeDowns' | 'pieceHashes' | 'pieces' | 'members'
> & {
  vms: VmSpec[];
  takeDowns: VmTakeDown[];
};
export type VmSpec = Omit<VmSpec__Output, 'devices' | 'disks'> & {
  devices: DeviceRef[];
  disks: DiskSpec[];
};
export type VmTakeDown = Omit<VmTakeDown__Output, 'devices'> & { devices: DeviceRef[] };
/** `tune`: its limits, which follow from its kind and size and are not part of what arrives. Absent: none. */
export type DiskSpec = DiskSpec__Output & { tune?: IoTune };
export type InterfaceSpec = InterfaceSpec__Output;
export type NetworkSpec = NetworkSpec__Output;
/** A VM of a network on another host. */
export type Neighbour = NetworkSpec['neighbours'][number];
export type Image = Image__Output;
export type FirewallRule = FirewallRule__Output;

/** What identifies a spec. Two specs with the same number differ if commits of the database were lost. */
export type SpecId = Pick<HostSpec, 'era' | 'number' | 'hash'>;

export function isSameSpec(a: SpecId, b: SpecId): boolean {
  return a.era === b.era && a.number === b.number && a.hash === b.hash;
}

/** The entry of one VM in a spec: it should run, or it is to be taken down. */
export type VmEntry = { takeDown: false; vm: VmSpec } | { takeDown: true; vm: VmTakeDown };

export function entryOf(spec: HostSpec | null, vmId: string): VmEntry | null {
  const wanted = spec?.vms.find((vm) => vm.id === vmId);
  if (wanted) return { takeDown: false, vm: wanted };
  const gone = spec?.takeDowns.find((vm) => vm.id === vmId);
  return gone ? { takeDown: true, vm: gone } : null;
}

/** Returns the entry with the limits that the spec has for its disks. */
export function withDiskLimits(entry: VmEntry | null, spec: HostSpec | null): VmEntry | null {
  if (entry === null || entry.takeDown || !spec || spec.diskLimits.length === 0) return entry;
  const disks = entry.vm.disks.map((disk) => {
    const limits = spec.diskLimits.find(({ kind }) => kind === disk.kind);
    return { ...disk, tune: tuneOf(limits, disk.sizeBytes) };
  });
  return { takeDown: false, vm: { ...entry.vm, disks } };
}

/** Returns whether both entries desire the same state. A revision never has two meanings. */
export function isSameEntry(a: VmEntry | null, b: VmEntry | null): boolean {
  return a?.takeDown === b?.takeDown && a?.vm.revision === b?.vm.revision;
}

/** Compares decimal text without leading zeros, because a value may exceed a JavaScript number. */
export function isBelow(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

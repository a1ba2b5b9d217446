import { sharePath } from '@gantry/ceph/storage-shares';
import { GIB } from '@gantry/daemon/units';
import type {
  HostSpecRow,
  SpecDiskLimits,
  SpecOrphanRow,
  SpecVmDiskRow,
  SpecVmRow,
} from '@gantry/db/queries/hosts/host-specs';
import type { SpecDiskRow, SpecVolumeRow } from '@gantry/db/queries/hosts/spec-rows';
import type { SpecFreezeRow } from '@gantry/db/queries/snapshots/snapshot-freezes';
import { DEVICE_KINDS } from '@gantry/model/host-states';
import { sharesFor } from '@gantry/placement/shares-for';
import type { CephfsShare } from '@gantry/proto/generated/gantry/v1/CephfsShare';
import type { DeviceRef } from '@gantry/proto/generated/gantry/v1/DeviceRef';
import type { DiskLimits } from '@gantry/proto/generated/gantry/v1/DiskLimits';
import type { DiskSpec } from '@gantry/proto/generated/gantry/v1/DiskSpec';
import type { HostSpec } from '@gantry/proto/generated/gantry/v1/HostSpec';
import type { Image } from '@gantry/proto/generated/gantry/v1/Image';
import type { RbdVolume } from '@gantry/proto/generated/gantry/v1/RbdVolume';
import type { VmSpec } from '@gantry/proto/generated/gantry/v1/VmSpec';
import type { VmTakeDown } from '@gantry/proto/generated/gantry/v1/VmTakeDown';
import {
  hashOf,
  type OutgoingSpec,
  type SpecPart,
  toSpecPart,
  toWholeSpec,
} from '../fleet/outgoing-spec.ts';
import { toNetworkPart, toRuleParts } from './network-parts.ts';

const MIB_PER_GB = 1024;
const MBPS_PER_GBPS = 1_000;

type OfStream = Pick<OutgoingSpec, 'consoles' | 'authoritySha256s'>;

/** Opens the sealed key or passphrase of a volume; null if it cannot be opened. */
export type OpenVolumeSecret = (kind: 'key' | 'passphrase', sealed: string) => string | null;

/** Converts rows to a spec. Each VM of the host either should run or is to be taken down. */
export function toOutgoingSpec(
  row: HostSpecRow,
  ofStream: OfStream,
  openSecret: OpenVolumeSecret = () => null,
): OutgoingSpec {
  const { era, number } = row;
  const parts = toSpecParts(row, openSecret);
  const id = { era, number, hash: hashOf({ era, number }, parts) };
  return { id, parts, ...ofStream, ...toAgentUpgrade(row), ...toOperations(row) };
}

function toOperations({ vms }: HostSpecRow): Pick<OutgoingSpec, 'operations'> {
  const operations = vms.flatMap(({ id, operation_id }) =>
    operation_id ? [{ vmId: id, operationId: operation_id }] : [],
  );
  return operations.length > 0 ? { operations } : {};
}

function toAgentUpgrade({ agent_upgrade: order }: HostSpecRow): Pick<OutgoingSpec, 'agentUpgrade'> {
  if (!order) return {};
  const { id, version, time_limit_s } = order;
  return { agentUpgrade: { id, version, timeLimitSeconds: time_limit_s } };
}

/** Returns the spec as an agent sees it that has all its pieces. */
export function toHostSpec(row: HostSpecRow, openSecret?: OpenVolumeSecret): HostSpec {
  return toWholeSpec(toOutgoingSpec(row, { consoles: [], authoritySha256s: [] }, openSecret));
}

function toSpecParts(row: HostSpecRow, openSecret: OpenVolumeSecret): SpecPart[] {
  const disks = { disks: row.disks.map(toDiskSpec), deletedDisks: row.deleted_disks };
  const hasDisks = row.disks.length > 0 || row.deleted_disks.length > 0;
  return [
    ...row.vms.map((vm) =>
      toSpecPart(
        vm.should_run ? { vms: [toVmSpec(vm, openSecret)] } : { takeDowns: [toVmTakeDown(vm)] },
      ),
    ),
    ...row.orphans.map((orphan) => toSpecPart({ takeDowns: [toOrphanTakeDown(orphan)] })),
    ...(hasDisks ? [toSpecPart(disks)] : []),
    ...toSnapshotParts(row),
    ...row.freezes.map((freeze) => toSpecPart({ freezes: [toFreeze(freeze)] })),
    ...row.disk_limits.map((limits) => toSpecPart({ diskLimits: [toDiskLimits(limits)] })),
    ...row.networks.map((network) => toNetworkPart(network)),
    ...row.networks.flatMap(({ rules }) => toRuleParts(rules)),
  ];
}

/** A part for each order, because the end of one changes no other. */
function toSnapshotParts(row: HostSpecRow): SpecPart[] {
  return [
    ...row.snapshots.map(({ id, disk_id: diskId, frozen }) => ({
      snapshots: [{ id, diskId, frozen }],
    })),
    ...row.deleted_snapshots.map((id) => ({ deletedSnapshots: [id] })),
    ...row.disk_copies.map(({ snapshot_id: snapshotId, ...disk }) => ({
      diskCopies: [{ disk: toDiskSpec(disk), snapshotId }],
    })),
    ...row.disk_restores.map(({ id, disk_id: diskId, snapshot_id: snapshotId, size_gib }) => ({
      diskRestores: [{ id, diskId, snapshotId, sizeBytes: size_gib * GIB }],
    })),
    ...row.image_exports.map(({ image_id: imageId, snapshot_id: snapshotId }) => ({
      imageExports: [{ imageId, snapshotId }],
    })),
  ].map(toSpecPart);
}

function toVmSpec(vm: SpecVmRow, openSecret: OpenVolumeSecret): VmSpec {
  const osDisk = vm.disks[0];
  const disks = vm.disks
    .map((disk) => toVmDiskSpec(disk, openSecret))
    .filter((disk) => disk !== null);
  const [sshPublicKey = '', ...sshKeys] = [vm.ssh_public_key, ...vm.ssh_keys].filter(Boolean);
  const image = osDisk?.exists ? null : toImage(vm.image);
  const needs = [
    ...(sshKeys.length > 0 ? ['ssh_keys'] : []),
    ...(vm.user_data === '' ? [] : ['user_data']),
    ...(disks.some(({ rbd }) => rbd) ? ['rbd'] : []),
    ...(disks.some(({ rbd }) => rbd?.passphrase) ? ['luks'] : []),
    ...(disks.some(({ cephfs }) => cephfs) ? ['cephfs'] : []),
    ...(image?.id ? ['image_transfers'] : []),
  ];
  return {
    id: vm.id,
    revision: vm.revision,
    generation: vm.generation,
    name: vm.name,
    cpuCores: vm.cpu_cores,
    memoryMib: vm.memory_gb * MIB_PER_GB,
    devices: deviceRefs(vm),
    disks,
    interfaces: vm.interfaces.map((iface) => ({
      id: iface.id,
      networkId: iface.network_id,
      mac: iface.mac_address,
      privateIpv4: `${iface.private_address}/${iface.prefix_length}`,
      gatewayIpv4: iface.gateway,
      publicIpv4: iface.public_address ?? '',
      bandwidthMbps: vm.network_gbps * MBPS_PER_GBPS,
    })),
    ...(image ? { image } : {}),
    sshPublicKey,
    startupScript: vm.startup_script,
    shutdownScript: vm.shutdown_script,
    numaShares: numaShares(vm),
    projectId: vm.project_id,
    type: vm.type,
    imageId: vm.image.id,
    nestedVirtualization: vm.nested_virtualization,
    ...(sshKeys.length > 0 ? { sshKeys } : {}),
    ...(vm.user_data === '' ? {} : { userData: vm.user_data }),
    ...(needs.length > 0 ? { needs } : {}),
  };
}

/**
 * Returns null for a data disk whose volume the host has no key of yet: it is attached when there is one. An OS disk
 * without a key is sent without its volume, so that the host refuses to start the VM and creates no empty disk.
 */
function toVmDiskSpec(disk: SpecVmDiskRow, openSecret: OpenVolumeSecret): DiskSpec | null {
  const { id, volume, in_pool, attachment_type, mode, exists } = disk;
  const readOnly = mode === 'read-only';
  const spec = { ...toDiskSpec(disk), readOnly, exists };
  if (volume && volume.file_system !== '') {
    const cephfs = toCephfsShare(id, volume, openSecret);
    return cephfs && { ...spec, cephfs };
  }
  const rbd = volume && toRbdVolume(id, volume, openSecret);
  if (in_pool && !rbd && attachment_type === 'data') return null;
  return rbd ? { ...spec, rbd } : spec;
}

/** Null if the key cannot be opened. */
function toCephfsShare(
  name: string,
  { monitors, pool, file_system: fileSystem, cluster_id, user, sealed_key }: SpecVolumeRow,
  openSecret: OpenVolumeSecret,
): CephfsShare | null {
  const key = openSecret('key', sealed_key);
  const path = sharePath({ installation: cluster_id, name });
  return key ? { monitors, fileSystem, pool, path, user, key } : null;
}

/** Null if the key or the passphrase cannot be opened: an encrypted volume must not be used without its passphrase. */
function toRbdVolume(
  image: string,
  { monitors, pool, user, encrypted, ...sealed }: SpecVolumeRow,
  openSecret: OpenVolumeSecret,
): RbdVolume | null {
  const key = openSecret('key', sealed.sealed_key);
  if (!key) return null;
  if (!encrypted) return { monitors, pool, image, user, key };
  const passphrase = openSecret('passphrase', sealed.sealed_passphrase ?? '');
  return passphrase ? { monitors, pool, image, user, key, passphrase } : null;
}

function toImage({ id, name, url, sha256, stored_sha256: stored }: SpecVmRow['image']): Image {
  return stored === null ? { name, url, sha256 } : { name, url: '', sha256: stored, id };
}

/** The shares that placement chose, or those that it would have derived from the GPUs before it stored them. */
function numaShares(vm: SpecVmRow): NonNullable<VmSpec['numaShares']> {
  const stored = vm.numa_shares?.map(({ node, cores, memoryMib }) => ({
    ...{ node, cpuCores: cores, memoryMib },
  }));
  if (stored) return stored;
  const gpus = vm.devices.filter(({ kind }) => kind === 'gpu');
  const shares = sharesFor(
    { gpus: gpus.map(({ id, numa_node }) => ({ id, numaNode: numa_node })) },
    gpus.map(({ id }) => id),
    { cores: vm.cpu_cores, memoryMib: vm.memory_gb * MIB_PER_GB, networkGbps: vm.network_gbps },
  );
  return shares.map(({ node, cores, memoryMib }) => ({ node, cpuCores: cores, memoryMib }));
}

/** By kind, GPUs first: the guest sees its devices in this order. */
function deviceRefs({ devices }: Pick<SpecVmRow, 'devices'>): DeviceRef[] {
  return DEVICE_KINDS.flatMap((kind) => devices.filter((device) => device.kind === kind)).map(
    ({ kind, pci_address }) => ({ kind, address: pci_address }),
  );
}

/** A stop keeps all disks; a removal, and a move of a VM that never ran, also removes the OS disk. */
function toVmTakeDown(vm: SpecVmRow): VmTakeDown {
  const isRemoved =
    vm.desired_state === 'deleted' || vm.abandoned || (vm.relocating && !vm.has_run);
  // A host removes no volume of a storage cluster.
  const osDisks = vm.disks.filter((disk) => disk.attachment_type === 'os' && !disk.in_pool);
  return {
    id: vm.id,
    revision: vm.revision,
    graceful: vm.desired_state === 'stopped' && !vm.abandoned,
    devices: deviceRefs(vm),
    disks: isRemoved ? osDisks.map(({ id }) => id) : [],
  };
}

/** Data disks stay, because they may belong to a tenant who knows nothing of the orphan. */
function toOrphanTakeDown(orphan: SpecOrphanRow): VmTakeDown {
  return {
    id: orphan.vm_id,
    revision: orphan.revision,
    graceful: true,
    devices: deviceRefs(orphan),
    disks: orphan.boot_disk_id ? [orphan.boot_disk_id] : [],
  };
}

function toDiskSpec(disk: SpecDiskRow): DiskSpec {
  return {
    id: disk.id,
    kind: toDiskKind(disk.type),
    sizeBytes: disk.size_gib * GIB,
    blockSize: disk.block_size,
    serialNumber: disk.serial_number,
    name: disk.name,
  };
}

const toDiskKind = (type: SpecDiskRow['type']) =>
  type === 'shared-volume' ? 'DISK_KIND_SHARED_VOLUME' : 'DISK_KIND_PERSISTENT_SSD';

/** A guest that waits longer may be taken for dead by what watches it. */
const FREEZE_LIMIT_S = 20;

const toFreeze = ({ id, vm_id: vmId, release }: SpecFreezeRow) => ({
  ...{ id, vmId, release, timeLimitSeconds: FREEZE_LIMIT_S },
});

function toDiskLimits(limits: SpecDiskLimits): DiskLimits {
  return {
    kind: toDiskKind(limits.disk_type),
    totalIops: limits.total_iops,
    readIops: limits.read_iops,
    writeIops: limits.write_iops,
    totalBytesPerSecond: limits.total_bytes_per_second,
    readBytesPerSecond: limits.read_bytes_per_second,
    writeBytesPerSecond: limits.write_bytes_per_second,
    iopsPerGib: limits.iops_per_gib,
    bytesPerSecondPerGib: limits.bytes_per_second_per_gib,
    burstPercent: limits.burst_percent,
    burstSeconds: limits.burst_seconds,
  };
}

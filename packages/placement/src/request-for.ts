import type { PlacementRequest } from './host.ts';

/** A VM type as a row of the catalogue. */
export type VmTypeRow = {
  cpu_cores: number;
  memory_gb: number;
  /** The total size of all drives. */
  disk_gb: number;
  disk_count: number;
  gpu_count: number;
  gpu_type: string;
  network_gbps: number;
  may_split: boolean;
  nested_virtualization: boolean;
};

const MIB_PER_GB = 1024;

/**
 * Returns the request of a VM of the given type, whose host has to create disks of this size, and of which a storage
 * cluster stores some disks or none.
 */
export function requestFor(
  location: string,
  type: VmTypeRow,
  { newDisksGib = 0, hasVolumes = false }: { newDisksGib?: number; hasVolumes?: boolean } = {},
): PlacementRequest {
  return {
    location,
    gpuModel: type.gpu_type,
    gpuCount: type.gpu_count,
    cores: type.cpu_cores,
    memoryMib: type.memory_gb * MIB_PER_GB,
    companions:
      type.disk_count > 0
        ? [{ kind: 'drive', count: type.disk_count, sizeGb: type.disk_gb / type.disk_count }]
        : [],
    networkGbps: type.network_gbps,
    maySplit: type.may_split,
    nested: type.nested_virtualization,
    newDisksGib,
    hasVolumes,
  };
}

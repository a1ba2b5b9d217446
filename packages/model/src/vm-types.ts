/**
 * The VM types of a new installation. The database holds the catalogue in force, and operators change
 * it through the API.
 */
export type VmType = {
  name: string;
  description: string;
  cpuCores: number;
  cpuType: string;
  memoryGb: number;
  memoryType: string;
  /** The total size of all NVMe drives. Zero if the type has none. */
  diskGb: number;
  diskType: string;
  diskCount: number;
  gpuCount: number;
  gpuType: string;
  networkGbps: number;
};

type Family = {
  prefix: string;
  gpuType: string;
  counts: number[];
  cpuCores: number;
  memoryGb: number;
  driveGb: number;
  networkGbps: number;
};

/** One line per family with the amounts per GPU. Every size is a multiple of them. */
const FAMILIES: Family[] = [
  {
    prefix: 'a40',
    gpuType: 'A40 48GB PCIe',
    counts: [1, 2, 4, 8],
    cpuCores: 6,
    memoryGb: 60,
    driveGb: 960,
    networkGbps: 25,
  },
  {
    prefix: 'a100',
    gpuType: 'A100 40GB PCIe',
    counts: [1, 2, 4, 8],
    cpuCores: 12,
    memoryGb: 120,
    driveGb: 960,
    networkGbps: 25,
  },
  {
    prefix: 'a100-80gb',
    gpuType: 'A100 80GB PCIe',
    counts: [1, 2, 4, 8],
    cpuCores: 12,
    memoryGb: 120,
    driveGb: 960,
    networkGbps: 25,
  },
  {
    prefix: 'l40s-48gb',
    gpuType: 'L40S 48GB PCIe',
    counts: [1, 2, 4, 8, 10],
    cpuCores: 8,
    memoryGb: 147,
    driveGb: 0,
    networkGbps: 20,
  },
];

export const CATALOGUE: readonly VmType[] = FAMILIES.flatMap((family) =>
  family.counts.map((count) => vmTypeOf(family, count)),
);

function vmTypeOf(family: Family, gpuCount: number): VmType {
  const cpuCores = family.cpuCores * gpuCount;
  const memoryGb = family.memoryGb * gpuCount;
  const hasDrives = family.driveGb > 0;
  const networkGbps = family.networkGbps * gpuCount;
  const drives = hasDrives ? `${gpuCount} x ${family.driveGb}GB NVMe` : 'no local NVMe';
  return {
    name: `${family.prefix}.${gpuCount}x`,
    description: `${gpuCount} x ${family.gpuType}, ${cpuCores} cores, ${memoryGb} GB, ${drives}, ${networkGbps} Gbps`,
    cpuCores,
    cpuType: 'x86-64',
    memoryGb,
    memoryType: 'ECC',
    diskGb: family.driveGb * gpuCount,
    diskType: hasDrives ? 'NVMe' : 'N/A',
    diskCount: hasDrives ? gpuCount : 0,
    gpuCount,
    gpuType: family.gpuType,
    networkGbps,
  };
}

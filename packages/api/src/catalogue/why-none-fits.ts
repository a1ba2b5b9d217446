/** What each filter of placement means for a tenant. Nothing is said about hosts or other tenants. */
const REASONS: Readonly<Record<string, string>> = {
  gpu_count: 'too few GPUs are free on one host',
  iommu_groups: 'too few GPUs that can be given away together are free on one host',
  nvlink_pairs: 'too few GPUs that can be given away together are free on one host',
  numa_nodes: 'too few GPUs that are close together are free on one host',
  cores: 'no host with free GPUs has enough free CPU cores',
  memory: 'no host with free GPUs has enough free memory',
  network: 'no host with free GPUs has enough free network bandwidth',
  drives: 'no host with free GPUs has enough free NVMe drives',
  disk_space: 'no host with free GPUs has room for the disks',
  storage_network: 'no host with free GPUs reaches the storage of the location',
};
const NO_HOST = 'no host for this type takes new VMs';

/** The filter is empty if nothing is known yet. */
export function whyNoneFits(filter: string): string {
  return `${REASONS[filter] ?? NO_HOST}: try again later, or another type or location`;
}

import type { Metrics } from '@gantry/daemon/metrics/metrics';
import type { PoolFigures } from '@gantry/db/queries/storage/pool-figures';

/** Adds the figures of the pools of storage clusters. */
export function addStorageMetrics(metrics: Metrics, read: () => readonly PoolFigures[]): void {
  const labelsOf = ({ location, cluster, pool }: PoolFigures) => ({ location, cluster, pool });
  metrics.gaugeOf({
    name: 'gantry_fleet_storage_pool_gib',
    help: 'The size of a storage pool, what is used of it, and the size of all its disks and images.',
    labels: ['location', 'cluster', 'pool', 'figure'],
    read: () =>
      read().flatMap((row) => {
        const labels = labelsOf(row);
        const figures = { size: row.size_gib, used: row.used_gib, allocated: row.allocated_gib };
        return Object.entries(figures).flatMap(([figure, value]) =>
          value === null ? [] : [{ labels: { ...labels, figure }, value }],
        );
      }),
  });
  metrics.gaugeOf({
    name: 'gantry_fleet_storage_pool_problem',
    help: 'Whether a storage pool or its cluster has a problem, which the API shows.',
    labels: ['location', 'cluster', 'pool'],
    read: () => read().map((row) => ({ labels: labelsOf(row), value: row.has_problem ? 1 : 0 })),
  });
}

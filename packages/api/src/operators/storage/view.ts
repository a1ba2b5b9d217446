import type { StorageClusterRow, StoragePoolRow } from '@gantry/db/queries/storage/admin-storage';

export function storageClusterView(row: StorageClusterRow) {
  const { id, name, monitors, user_name, fsid, problem, created_at } = row;
  return { id, name, monitors, user_name, fsid, problem, created_at: created_at.toISOString() };
}

export function storagePoolView({ cluster_id, observed_at, created_at, ...row }: StoragePoolRow) {
  return {
    ...row,
    storage_cluster_id: cluster_id,
    size_gib: row.size_gib ?? 0,
    observed_at: observed_at?.toISOString() ?? '',
    created_at: created_at.toISOString(),
  };
}

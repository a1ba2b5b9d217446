import type { SnapshotRow } from './snapshots.ts';

export function snapshotView(row: SnapshotRow) {
  return {
    id: row.id,
    name: row.name,
    disk_id: row.disk_id,
    type: row.disk_type,
    size: `${row.size_gib}GiB`,
    location: row.location,
    block_size: row.block_size,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    state: row.state,
    problem: row.problem,
    tags: row.tags,
  };
}

import type { BackupRow } from './backups.ts';

export function backupView(row: BackupRow) {
  return {
    id: row.id,
    name: row.name,
    disk_id: row.disk_id,
    type: row.disk_type,
    size: `${row.size_gib}GiB`,
    location: row.location,
    block_size: row.block_size,
    parent_id: row.parent_id ?? '',
    scheduled: row.scheduled,
    stored_bytes: row.file_bytes,
    sha256: row.sha256,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    state: row.state,
    problem: row.problem,
    tags: row.tags,
  };
}

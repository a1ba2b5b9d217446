import type { DiskRow } from './disks.ts';

export function diskView(row: DiskRow) {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    size: row.size,
    location: row.location,
    block_size: row.block_size,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    serial_number: row.serial_number,
    attachment_type: row.attachments[0]?.attachment_type ?? '',
    mode: modeOf(row),
    state: row.state,
    storage: row.in_pool ? ('network' as const) : ('local' as const),
    encrypted: row.encrypted,
    tags: row.tags,
    vm_ids: row.attachments.map(({ vm_id }) => vm_id),
  };
}

/** A shared volume can have attachments of both modes; it is writable if one of them is. */
function modeOf({ attachments }: DiskRow): string {
  const writer = attachments.find(({ mode }) => mode === 'read-write');
  return (writer ?? attachments[0])?.mode ?? '';
}

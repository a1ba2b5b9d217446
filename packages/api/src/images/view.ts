import type { ImageRow } from '@gantry/db/queries/catalogue/catalogue';

export function adminImageView(row: ImageRow) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    tags: row.tags,
    source_url: row.source_url,
    sha256: row.sha256,
    retired: row.retired,
    created_at: row.created_at.toISOString(),
    locations: row.locations,
  };
}

import type { ImageRow } from '@gantry/db/queries/catalogue/catalogue';

export function imageView(row: ImageRow) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    tags: row.tags,
    created_at: row.created_at.toISOString(),
    locations: row.locations,
  };
}

export function adminImageView(row: ImageRow) {
  return {
    ...imageView(row),
    source_url: row.source_url,
    sha256: row.sha256,
    retired: row.retired,
  };
}

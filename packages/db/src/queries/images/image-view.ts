import type { ProjectImageRow } from './project-images.ts';

/** An image as tenants see it: of the catalogue, of their project, or of their organization. */
export function imageView(row: ProjectImageRow) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    tags: row.tags,
    created_at: row.created_at.toISOString(),
    locations: row.locations,
    project_id: row.project_id ?? '',
    visibility: row.visibility,
    state: row.state,
    size: row.size_gib === null ? '' : `${row.size_gib}GiB`,
    problem: row.problem,
  };
}

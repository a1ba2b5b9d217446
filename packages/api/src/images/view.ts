import type { ImageRow } from '@gantry/db/queries/catalogue';
import { imageView } from '../catalogue/view.ts';

/** What operators see of an image beyond what everyone does. */
export function adminImageView(row: ImageRow) {
  return {
    ...imageView(row),
    source_url: row.source_url,
    sha256: row.sha256,
    retired: row.retired,
  };
}

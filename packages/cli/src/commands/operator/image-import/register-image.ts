import type { Client } from '@gantry/sdk';
import { ImportError } from '../../../cli-errors.ts';

export type NewImage = {
  name: string;
  description: string;
  tags: string[];
  url: string;
  sha256: string;
  /** Undefined: those that the image has, or all of them for a new image. */
  locations: string[] | undefined;
};

/**
 * Adds the image to the catalogue. A new installation has images without a source, and one of the same
 * name gets the source. The source of an image never changes, because VMs were created from it, so
 * another build needs another name.
 */
export async function registerImage(
  client: Client,
  wanted: NewImage,
): Promise<'created' | 'updated' | 'unchanged'> {
  const { name, description, tags, url: source_url, sha256, locations } = wanted;
  const { items } = await client.adminImages.list();
  const known = items.find((image) => image.name === name);
  if (known === undefined) {
    const all = locations ?? (await client.locations.list()).items.map((each) => each.name);
    const body = { name, description, tags, source_url, sha256, locations: all };
    await client.adminImages.create({ body });
    return 'created';
  }
  if (known.source_url !== '' && known.sha256 !== sha256)
    throw new ImportError(
      `the image ${name} exists and has another build. Import this one with --name, then retire the other`,
    );
  if (known.source_url !== '' && locations === undefined) return 'unchanged';
  const source = known.source_url === '' ? { source_url, sha256 } : {};
  const body = { ...source, ...(locations && { locations }) };
  await client.adminImages.change({ image_id: known.id, body });
  return 'updated';
}

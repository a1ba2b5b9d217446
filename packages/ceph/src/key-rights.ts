import type { Volume } from './storage-cluster.ts';
import { StorageError } from './storage-error.ts';

/** The rights of a key, as Ceph calls them: caps. `mark` is in the rights of every key of the volume and of no other. */
export type KeyRights = { mon: string; osd: string; mark: string };

/**
 * Renders the rights of a key that opens one volume and reads its parent.
 *
 * A right covers all objects whose names begin with a prefix, so volumes have names and ids of the same length. With
 * `mon 'allow r'` a client can neither fence others nor break a lock; the usual `profile rbd` allows both.
 */
export function renderKeyRights(pool: string, volume: Volume): KeyRights {
  const words = [pool, volume.name, volume.id, ...(volume.parentId ? [volume.parentId] : [])];
  const wrong = words.find((word) => !/^[\w.-]+$/.test(word));
  if (wrong !== undefined) throw new StorageError('failed', `"${wrong}" cannot be part of a right.`);
  const right = (kind: string) => (prefix: string) =>
    `allow ${kind} pool=${pool} object_prefix ${prefix}`;
  const objects = (id: string) => [`rbd_data.${id}.`, `rbd_header.${id}`, `rbd_object_map.${id}`];
  const own = objects(volume.id).map(right('rwx'));
  const shared = [`rbd_id.${volume.name}`, 'rbd_info'].map(right('rx'));
  // A clone looks up the name of its parent, which may be in the trash.
  const ofParent = volume.parentId
    ? [...objects(volume.parentId), 'rbd_directory', 'rbd_trash'].map(right('rx'))
    : [];
  const mark = own[1] ?? '';
  return { mon: 'allow r', osd: [...own, ...shared, ...ofParent].join(', '), mark: `${mark},` };
}

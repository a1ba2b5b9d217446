import type { Volume } from './storage-cluster.ts';
import { StorageError } from './storage-error.ts';
import { namespaceOf, type Share } from './storage-shares.ts';

/**
 * The rights of a key, as Ceph calls them: caps. `mark` is in the rights of every key of the volume or share, and of no
 * other.
 */
export type KeyRights = { mon: string; osd: string; mds?: string; mark: string };

/**
 * Renders the rights of a key that opens one volume and reads its parent.
 *
 * A right covers all objects whose names begin with a prefix, so volumes have names and ids of the same length. Of the
 * objects that all volumes share, a key may call the methods that look up one parent, and cannot list names. With
 * `mon 'allow r'` a client can read the maps, settings and log of the cluster; with the usual `profile rbd` it could also
 * fence others and break locks.
 */
export function renderKeyRights(pool: string, volume: Volume): KeyRights {
  const words = [pool, volume.name, volume.id, ...(volume.parentId ? [volume.parentId] : [])];
  requireWords(words);
  const allow = (kind: string, prefix: string) =>
    `allow ${kind} pool=${pool} object_prefix ${prefix}`;
  const objects = (id: string) => [`rbd_data.${id}.`, `rbd_header.${id}`, `rbd_object_map.${id}`];
  const own = objects(volume.id).map((prefix) => allow('rwx', prefix));
  const shared = [`rbd_id.${volume.name}`, 'rbd_info'].map((prefix) => allow('rx', prefix));
  const ofParent = volume.parentId
    ? [
        ...objects(volume.parentId).map((prefix) => allow('rx', prefix)),
        allow('class rbd dir_get_name', 'rbd_directory'),
        // The parent may be in the trash.
        allow('class rbd trash_get', 'rbd_trash'),
      ]
    : [];
  return {
    mon: 'allow r',
    osd: [...own, ...shared, ...ofParent].join(', '),
    mark: `${allow('rwx', `rbd_header.${volume.id}`)},`,
  };
}

/**
 * Renders the rights of a key that mounts one share.
 *
 * The metadata server limits it to the share's path. Without "p" in its rights it can change neither the quota nor the
 * layout, which says in which namespace the content is, and without "s" it can make no snapshots. OSDs know no paths:
 * they limit it to the share's namespace.
 */
export function renderShareRights(share: Share): KeyRights {
  const { fileSystem, pool, path } = share;
  const namespace = namespaceOf(share);
  requireWords([fileSystem, pool, namespace, ...path.split('/').slice(1)]);
  return {
    mon: 'allow r',
    mds: `allow rw fsname=${fileSystem} path=${path}`,
    osd: `allow rw pool=${pool} namespace=${namespace}`,
    mark: `namespace=${namespace}`,
  };
}

function requireWords(words: readonly string[]): void {
  const wrong = words.find((word) => !/^[\w.-]+$/.test(word));
  if (wrong !== undefined)
    throw new StorageError('failed', `"${wrong}" cannot be part of a right.`);
}

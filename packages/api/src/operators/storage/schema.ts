import { DISK_TYPES } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import {
  CatalogueName,
  Id,
  Name,
  NamedListQuery,
  Page,
  ReplyId,
  Text,
  Timestamp,
  TimestampOrEmpty,
} from '../../http/fields.ts';

const MOST_MONITORS = 9;
const PORT =
  '([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';
const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';

const Monitor = z
  .string()
  .regex(
    new RegExp(`^(${OCTET}\\.){3}${OCTET}:${PORT}$`),
    'must be an IPv4 address with a port, such as 10.0.0.1:3300',
  )
  .openapi({ example: '10.0.0.1:3300' });

/** The name of a user or a pool in Ceph. */
const CephName = Text(63).regex(
  /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/,
  'must be letters, digits, _, . and -, and begin with a letter, a digit or _',
);

const Problem = z.string().openapi({
  description: 'Why it cannot be used; empty if nothing is known to be wrong.',
});

export const StorageCluster = z
  .object({
    id: ReplyId,
    name: z.string(),
    monitors: z.array(z.string()),
    user_name: z.string(),
    fsid: z.string().openapi({
      description: "The cluster's own id; empty until a scheduler has reached it.",
    }),
    problem: Problem,
    created_at: Timestamp,
  })
  .openapi('StorageCluster');
export const StorageClusterPage = Page(StorageCluster);
export const StorageClusterParams = z.object({ storage_cluster_id: Id });
export const StorageClusterQuery = z.strictObject(NamedListQuery);

export const CreateStorageCluster = z
  .strictObject({
    name: Name,
    monitors: z
      .array(Monitor)
      .min(1, 'must name at least one monitor')
      .max(MOST_MONITORS, `must name at most ${MOST_MONITORS} monitors`),
    user_name: CephName.openapi({
      description: 'The name of the key of the schedulers in the cluster, without "client.".',
    }),
  })
  .openapi('CreateStorageCluster');

const OvercommitPercent = z
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .max(100_000, 'must be at most 100000')
  .openapi({ description: 'How large all disks together may be, as a share of the pool.' });

export const StoragePool = z
  .object({
    id: ReplyId,
    storage_cluster_id: ReplyId,
    name: z.string(),
    file_system: z.string().openapi({
      description: 'The CephFS file system of shared volumes; empty for other disks.',
    }),
    location: z.string(),
    disk_type: z.string(),
    active: z.boolean().openapi({ description: 'Whether new disks may be created in it.' }),
    encrypted: z.boolean().openapi({ description: 'Whether its disks are encrypted.' }),
    overcommit_percent: z.int(),
    size_gib: z.int().openapi({ description: 'Zero until it is known.' }),
    used_gib: z.int(),
    allocated_gib: z
      .int()
      .openapi({ description: 'The size of all its disks and images together.' }),
    observed_at: TimestampOrEmpty,
    problem: Problem,
    created_at: Timestamp,
  })
  .openapi('StoragePool');
export const StoragePoolPage = Page(StoragePool);
export const StoragePoolParams = z.object({ storage_pool_id: Id });
export const StoragePoolQuery = z.strictObject({
  ...NamedListQuery,
  storage_cluster_id: Id.optional(),
  location: Text(63).optional(),
});

export const CreateStoragePool = z
  .strictObject({
    storage_cluster_id: Id,
    name: CephName.openapi({ description: 'Its name in the cluster.' }),
    file_system: CephName.optional().openapi({
      description:
        'For shared volumes: the CephFS file system that has the pool as one of its data pools.',
    }),
    location: CatalogueName,
    disk_type: z.enum(DISK_TYPES).openapi({
      description: 'A pool stores all new disks of this type in the location.',
    }),
    active: z.boolean().default(true),
    encrypted: z.boolean().default(false).openapi({
      description:
        'Whether hosts encrypt its disks, so that the cluster never has their content. It cannot be changed.',
    }),
    overcommit_percent: OvercommitPercent.default(100),
  })
  .openapi('CreateStoragePool');

export const ChangeStoragePool = z
  .strictObject({
    active: z.boolean().optional(),
    overcommit_percent: OvercommitPercent.optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'must change something')
  .openapi('ChangeStoragePool');

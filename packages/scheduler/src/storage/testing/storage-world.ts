import { type SimulatedCluster, simulateCluster } from '@gantry/ceph/simulated-cluster';
import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { StorageError } from '@gantry/ceph/storage-error';
import { createLog } from '@gantry/daemon/log';
import { createSecrets, type Secrets } from '@gantry/daemon/secrets';
import {
  listOldSnapshots,
  listUnsettledBackups,
  updateBackupProblem,
} from '@gantry/db/queries/backups/backup-work';
import { acquireLeases, type Lease } from '@gantry/db/queries/placement/leases';
import {
  listDisksToRestore,
  listUnsettledSnapshots,
  updateSnapshotProblem,
} from '@gantry/db/queries/snapshots/snapshot-work';
import { listUnsettledImages, updateImageProblem } from '@gantry/db/queries/storage/image-work';
import { listVolumesToChange } from '@gantry/db/queries/storage/volume-work';
import { updateVolumeProblem } from '@gantry/db/queries/storage/volumes';
import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { settleWithoutHost } from '../../settle/settle-without-host.ts';
import type { BackupFiles } from '../backup-files/backup-files.ts';
import type { BucketOptions } from '../backup-files/bucket/bucket-files.ts';
import { openBackupFiles } from '../backup-files/open-backup-files.ts';
import { dropSnapshot, settleBackup } from '../backups/settle-backup.ts';
import { changeVolume } from '../change-volume.ts';
import { imageVolume } from '../images/custom-images.ts';
import { settleImage } from '../images/settle-image.ts';
import { LeaseLost } from '../lease-writes.ts';
import { restoreDisk } from '../snapshots/restore-disk.ts';
import { settleSnapshot } from '../snapshots/settle-snapshot.ts';
import { StorageClusters } from '../storage-clusters.ts';
import { shownReason } from '../storage-failure.ts';
import type { VolumeContext } from '../volume-context.ts';

export const LOCATION = 'eu-north-a';
export const POOL = 'volumes';

// biome-ignore lint/suspicious/noExplicitAny: a reply has any shape, and tests compare it.
type Reply = { status: number; body: any };

export type StorageWorld = {
  api: TestApi;
  tenant: TestTenant;
  stranger: TestTenant;
  cluster: SimulatedCluster;
  log: VolumeContext['log'];
  lease: Lease;
  poolId: string;
  /** Seals the passphrases of encrypted volumes. */
  secrets: Secrets;
  call(method: string, path: string, body?: unknown, bearer?: string): Promise<Reply>;
  /** Sends a request that starts an operation and returns the operation. */
  begin(method: string, path: string, body?: unknown): Promise<{ id: string; resourceId: string }>;
  /** Runs everything that there is to do, once. */
  carryOut(changed?: {
    lease?: Lease;
    cluster?: StorageCluster;
    backupFiles?: BackupFiles;
    /** From where images of tenants are fetched; also from this machine unless given. */
    networks?: 'public';
  }): Promise<void>;
  // biome-ignore lint/suspicious/noExplicitAny: a row with a result of any shape.
  operation(id: string): Promise<any>;
  /** Creates a disk with a volume that has this content. */
  makeDisk(content: string, body?: object): Promise<string>;
  contentOf(diskId: string): string;
  write(diskId: string, content: string): void;
};

/** An api with a tenant, a storage cluster that is simulated unless a real one is given, and the lease of its location; no scheduler runs. */
export async function makeStorageWorld({
  real,
  backupDirectory,
  backupBucket,
  uploads,
  encrypted = false,
}: {
  real?: StorageCluster;
  backupDirectory?: string;
  /** Makes the directory the spool of this bucket. */
  backupBucket?: BucketOptions;
  /** Where uploaded files of images are. */
  uploads?: string;
  /** Whether the pool encrypts its disks. */
  encrypted?: boolean;
} = {}): Promise<StorageWorld> {
  const api = await startTestApi({ imageUploads: uploads });
  const { sql } = api;
  const tenant = await makeTenant(api, 'acme');
  const stranger = await makeTenant(api, 'other');
  const cluster = simulateCluster();
  const fsid = await (real ?? cluster).readFsid();
  const [clusterId, poolId] = [newId(), newId()];
  await sql`insert into storage_clusters (id, name, monitors, user_name, fsid)
    values (${clusterId}, 'ceph', '{10.0.0.1:3300}', 'gantry', ${fsid})`;
  await sql`insert into storage_pools (id, cluster_id, name, location, disk_type, size_gib, encrypted)
    values (${poolId}, ${clusterId}, ${POOL}, ${LOCATION}, 'persistent-ssd', 1024, ${encrypted})`;
  const leases = await acquireLeases(sql, { holder: newId(), ttlMs: 3_600_000 });
  const lease = leases.find(({ location }) => location === LOCATION) as Lease;
  const log = createLog({ process: 'test', level: 'silent' });
  const secrets = createSecrets('the first key of the storage world');

  const files = openBackupFiles(backupDirectory, backupBucket);

  /** Does what start-volumes.ts does, once and in order. */
  const carryOut: StorageWorld['carryOut'] = async (changed = {}) => {
    const by = changed.lease ?? lease;
    const clusters = new StorageClusters({
      sql,
      log,
      open: async () => ({ ...(changed.cluster ?? real ?? cluster), readFsid: async () => fsid }),
    });
    const unused = { images: undefined } as unknown as VolumeContext;
    const backupFiles = changed.backupFiles ?? files;
    const rules = { allowsPrivate: true, allowsLoopback: changed.networks !== 'public' };
    const imports = { rules, stopping: new AbortController().signal, uploads };
    const context: VolumeContext = {
      ...{ ...unused, sql, log, secrets, clusters, imports, backupFiles },
    };
    const selection = { location: LOCATION, limit: 100, notIds: [], notClusters: [] };
    const attempt = async (
      step: Promise<void>,
      record: (problem: string) => Promise<void>,
    ): Promise<void> => {
      await step.catch(async (error: unknown) => {
        if (error instanceof StorageError) return await record(shownReason(error));
        if (!(error instanceof LeaseLost)) throw error;
      });
    };
    for (const snapshot of await listUnsettledSnapshots(sql, selection))
      await attempt(settleSnapshot(context, { lease: by, snapshot }), (problem) =>
        updateSnapshotProblem(sql, { snapshotId: snapshot.id, problem }),
      );
    for (const backup of await listUnsettledBackups(sql, selection))
      await attempt(settleBackup(context, { lease: by, backup }), (problem) =>
        updateBackupProblem(sql, { backupId: backup.id, problem }),
      );
    for (const old of await listOldSnapshots(sql, selection))
      await attempt(dropSnapshot(context, { lease: by, old }), async () => {});
    for (const disk of await listDisksToRestore(sql, selection))
      await attempt(restoreDisk(context, { lease: by, disk }), (problem) =>
        updateVolumeProblem(sql, { diskId: disk.id, problem }),
      );
    for (const image of await listUnsettledImages(sql, selection))
      await attempt(
        settleImage(context, { lease: by, image, place: imageVolume(context, image) }),
        (problem) => updateImageProblem(sql, { imageId: image.id, problem }),
      );
    for (const volume of await listVolumesToChange(sql, selection))
      if (volume.image === null || volume.image.is_custom)
        await attempt(changeVolume({ context, lease: by, volume }), (problem) =>
          updateVolumeProblem(sql, { diskId: volume.disk_id, problem }),
        );
    await settleWithoutHost(sql);
  };

  const project = `/projects/${tenant.projectId}`;
  const call = (method: string, path: string, body?: unknown, bearer = tenant.accessKey) =>
    api.call(
      method,
      path.startsWith('/projects') ? path : `${project}${path}`,
      body === undefined ? { bearer } : { bearer, body },
    );
  let made = 0;
  const begin = async (method: string, path: string, body?: unknown) => {
    const reply = await call(method, path, body);
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
    const { operation_id: id, metadata } = reply.body.operation;
    return { id, resourceId: metadata.id };
  };

  return {
    ...{ api, tenant, stranger, cluster, log, lease, poolId, secrets, call, begin, carryOut },
    operation: async (id) => {
      const [row] =
        await sql`select state, name, resource_type, result from operations where id = ${id}`;
      return row;
    },
    makeDisk: async (content, body = {}) => {
      const wanted = { name: `disk-${made++}`, size: '10GiB', location: LOCATION, ...body };
      const { resourceId: name } = await begin('POST', '/disks', wanted);
      await carryOut();
      if (real) return name;
      const client = cluster.open({ pool: POOL, name, address: '10.0.0.9:0/1' });
      client.write(content);
      client.close();
      return name;
    },
    contentOf: (name) => cluster.readContent({ pool: POOL, name }),
    write: (name, content) => {
      const client = cluster.open({ pool: POOL, name, address: '10.0.0.9:0/1' });
      client.write(content);
      client.close();
    },
  };
}

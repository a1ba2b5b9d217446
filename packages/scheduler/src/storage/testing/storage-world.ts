import { type SimulatedCluster, simulateCluster } from '@gantry/ceph/simulated-cluster';
import { createLog } from '@gantry/daemon/log';
import { acquireLeases, type Lease } from '@gantry/db/queries/placement/leases';
import { newId } from '@gantry/model/ids';
import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { finishDisk } from '@gantry/testkit/make/finished';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { listDiskContentTasks } from '../disk-contents.ts';
import { listSnapshotTasks } from '../snapshots.ts';
import { GIB, type StorageTask, type StorageWork } from '../storage-task.ts';

export const LOCATION = 'eu-north-a';
export const POOL = 'volumes';
const INSTALLATION = 'here';

type Reply = { status: number; body: any };

export type StorageWorld = {
  api: TestApi;
  tenant: TestTenant;
  stranger: TestTenant;
  cluster: SimulatedCluster;
  work: StorageWork;
  poolId: string;
  call(method: string, path: string, body?: unknown, bearer?: string): Promise<Reply>;
  /** Sends a request that starts an operation and returns the operation. */
  begin(method: string, path: string, body?: unknown): Promise<{ id: string; resourceId: string }>;
  /** Runs everything that there is to do, once. */
  carryOut(work?: StorageWork): Promise<void>;
  operation(id: string): Promise<any>;
  /** Creates a disk with a volume that has this content. */
  makeDisk(content: string, body?: object): Promise<string>;
  contentOf(diskId: string): string;
  write(diskId: string, content: string): void;
};

/** An api with a tenant, a simulated storage cluster, and the lease of its location; no scheduler runs. */
export async function makeStorageWorld(): Promise<StorageWorld> {
  const api = await startTestApi();
  const { sql } = api;
  const tenant = await makeTenant(api, 'acme');
  const stranger = await makeTenant(api, 'other');
  const cluster = simulateCluster();
  const [clusterId, poolId] = [newId(), newId()];
  await sql`insert into storage_clusters (id, name, monitors, user_name, fsid)
    values (${clusterId}, 'ceph', '{10.0.0.1:3300}', 'gantry', ${await cluster.readFsid()})`;
  await sql`insert into storage_pools (id, cluster_id, name, location, disk_type, size_gib)
    values (${poolId}, ${clusterId}, ${POOL}, ${LOCATION}, 'persistent-ssd', 1024)`;
  const leases = await acquireLeases(sql, { holder: newId(), ttlMs: 3_600_000 });
  const lease = leases.find(({ location }) => location === LOCATION) as Lease;
  const work: StorageWork = {
    ...{ sql, log: createLog({ process: 'test', level: 'silent' }), lease, installation: INSTALLATION },
    cluster: (id) => (id === clusterId ? cluster : undefined),
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
    ...{ api, tenant, stranger, cluster, work, poolId, call, begin },
    carryOut: async (as = work) => {
      const tasks: StorageTask[] = [
        ...(await listSnapshotTasks(as)),
        ...(await listDiskContentTasks(as)),
      ];
      await Promise.all(tasks.map(({ run }) => run()));
    },
    operation: async (id) => {
      const [row] = await sql`select state, name, resource_type, result from operations where id = ${id}`;
      return row;
    },
    makeDisk: async (content, body = {}) => {
      const wanted = { name: `disk-${made++}`, size: '10GiB', location: LOCATION, ...body };
      const { resourceId: name } = await begin('POST', '/disks', wanted);
      const labels = { installation: INSTALLATION, resource: name };
      const volume = await cluster.createVolume({ pool: POOL, name, sizeBytes: 10 * GIB, labels });
      await sql`update disks set pool_id = ${poolId}, volume_id = ${volume.id} where id = ${name}`;
      await finishDisk(sql, name);
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

import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type SimulatedCluster, simulateCluster } from '@gantry/ceph/simulated-cluster';
import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { createLog } from '@gantry/daemon/log';
import { createSecrets } from '@gantry/daemon/secrets';
import type { Lease } from '@gantry/db/queries/placement/leases';
import { newId } from '@gantry/model/ids';
import { type Placer, placePending } from '@gantry/scheduler/place/place-pending';
import { startVolumes, type Volumes } from '@gantry/scheduler/storage/start-volumes';
import { type Cloud, startCloud } from '@gantry/testkit/cloud/start-cloud';
import type { HandDrivenHost } from '@gantry/testkit/hosts/hand-driven-host';
import { holdLocation, makePlacer } from '@gantry/testkit/make/placers';
import { expect } from 'vitest';

/** A cloud whose location stores its disks in a simulated cluster. Its hosts are driven by hand. */
export type PoolCloud = Cloud & {
  cluster: SimulatedCluster;
  clusterId: string;
  poolId: string;
  lease: Lease;
  placer: Placer;
  /** Starts a volume controller. Without one nothing happens in the cluster. */
  startVolumes(options?: {
    wrap?: (cluster: StorageCluster) => StorageCluster;
    lease?: Lease;
    backupDirectory?: string;
  }): Volumes;
  /** Stops all controllers. */
  stopVolumes(): Promise<void>;
  addStorageHost(): Promise<HandDrivenHost>;
  /** Waits until no volume and no key is left to make, to change or to remove. */
  settleVolumes(): Promise<void>;
  /** Places all VMs that wait. */
  placeVms(): Promise<void>;
  hostOf(vmId: string): Promise<string | undefined>;
};

const NUDGE_MS = 20;

export async function startPoolCloud(): Promise<PoolCloud> {
  const cloud = await startCloud();
  const { sql } = cloud;
  const cluster = simulateCluster();
  const [clusterId, poolId] = [newId(), newId()];
  await sql`insert into storage_clusters (id, name, monitors, user_name)
    values (${clusterId}, ${`cluster-${clusterId}`}, '{10.9.0.1:3300}', 'gantry')`;
  await sql`insert into storage_pools (id, cluster_id, name, location, disk_type, overcommit_percent)
    values (${poolId}, ${clusterId}, 'volumes', 'eu-north-a', 'persistent-ssd', 1000)`;
  await sql`insert into storage_pools (id, cluster_id, name, file_system, location, disk_type, overcommit_percent)
    values (${newId()}, ${clusterId}, 'shares', 'shares', 'eu-north-a', 'shared-volume', 1000)`;
  const images = await mkdtemp(join(tmpdir(), 'gantry-pool-'));
  const content = Buffer.alloc(1024, 'an image ');
  await writeFile(join(images, 'image'), content);
  const sha256 = createHash('sha256').update(content).digest('hex');
  await sql`update images set source_url = ${pathToFileURL(join(images, 'image')).href}, sha256 = ${sha256}`;
  const lease = await holdLocation(sql);
  const placer = makePlacer(sql, lease);
  const running = new Map<Volumes, NodeJS.Timeout>();
  let hosts = 0;

  return {
    ...cloud,
    ...{ cluster, clusterId, poolId, lease, placer },
    startVolumes({
      wrap = (given: StorageCluster) => given,
      lease: held = lease,
      backupDirectory,
    } = {}) {
      const volumes = startVolumes({
        sql,
        log: createLog({ process: 'test', level: process.env['GANTRY_LOG_LEVEL'] ?? 'silent' }),
        secrets: createSecrets('0123456789abcdef0123456789abcdef'),
        openCluster: async () => wrap(cluster),
        leases: () => [held],
        backupDirectory,
        retryMs: 10,
        watchMs: 50,
        sweepMs: 50,
      });
      // In a scheduler the poll of changes does this.
      const nudges = setInterval(
        () => volumes.note({ hasVolumeWork: true, hasPools: true }),
        NUDGE_MS,
      );
      running.set(volumes, nudges);
      const { stop } = volumes;
      volumes.stop = async () => {
        clearInterval(nudges);
        running.delete(volumes);
        await stop();
      };
      return volumes;
    },
    async stopVolumes() {
      await Promise.all([...running.keys()].map((volumes) => volumes.stop()));
    },
    async addStorageHost() {
      hosts += 1;
      return await cloud.addHandDrivenHost({ storageAddress: `10.9.1.${hosts}` });
    },
    async settleVolumes() {
      const left = async () => {
        // A key that was not recorded is removed after a minute.
        await sql`update volume_keys set created_at = now() - interval '2 minutes'
          where sealed_key = '' and created_at < now() - interval '2 seconds'`;
        return await sql`select id from disks d where pool_id is not null and (wants_key or observed_size_gib is null
            or observed_size_gib < size_gib and not exists (select from disk_attachments a join placements p on p.vm_id = a.vm_id
              where a.disk_id = d.id))
          union all select disk_id from discarded_volumes union all select disk_id from volume_keys where revoked`;
      };
      await expect.poll(left).toEqual([]);
      await cloud.settleWithoutHost();
    },
    async placeVms() {
      // Hosts of a scheduler without a heartbeat get no VMs.
      await sql`update schedulers set last_seen_at = now() + interval '1 hour'`;
      await placePending(placer);
    },
    async hostOf(vmId) {
      const [row] = await sql<
        { host_id: string }[]
      >`select host_id from placements where vm_id = ${vmId}`;
      return row?.host_id;
    },
    async stop() {
      for (const volumes of running.keys()) await volumes.stop();
      await cloud.stop();
      await rm(images, { recursive: true, force: true });
    },
  };
}

import { type SimulatedCluster, simulateCluster } from '@gantry/ceph/simulated-cluster';
import type { StorageCluster } from '@gantry/ceph/storage-cluster';
import { closeStreams } from '@gantry/db/queries/hosts/host-liveness';
import { newId } from '@gantry/model/ids';
import { markUnreachable } from '@gantry/scheduler/liveness/mark-unreachable';
import type { Cloud } from '@gantry/testkit/cloud/start-cloud';
import type { HandDrivenHost } from '@gantry/testkit/hosts/hand-driven-host';

const POOL = 'volumes';
const SILENT = { schedulerMs: 60_000, hostMs: 60_000 };

/** A cloud whose VMs have their disks in a simulated storage cluster, and hosts with addresses there. */
export class VolumeWorld {
  readonly cluster: SimulatedCluster;
  readonly clusterId = newId();
  readonly poolId = newId();
  readonly #cloud: Cloud;
  #made = 0;

  constructor(cloud: Cloud) {
    this.#cloud = cloud;
    this.cluster = simulateCluster();
  }

  async begin(): Promise<void> {
    const { sql } = this.#cloud;
    await sql`insert into storage_clusters (id, name, monitors, user_name)
      values (${this.clusterId}, ${`ceph-${this.clusterId.slice(-8)}`}, '{10.9.0.1:3300}', 'gantry')`;
    // For shared volumes: the api stores new disks of VMs on hosts, and `runVm` makes volumes of them.
    await sql`insert into storage_pools (id, cluster_id, name, location, disk_type, active)
      values (${this.poolId}, ${this.clusterId}, ${POOL}, 'eu-north-a', 'shared-volume', false)`;
  }

  readonly clusters = async (clusterId: string): Promise<StorageCluster> => {
    if (clusterId !== this.clusterId) throw new Error(`BUG: there is no cluster ${clusterId}`);
    return this.cluster;
  };

  /** Adds a host. The default is an address that no other host has. */
  async addHost(address = `10.9.1.${++this.#made}`): Promise<HandDrivenHost & { address: string }> {
    const host = await this.#cloud.addHandDrivenHost();
    await this.#cloud.sql`update hosts set storage_address = ${address},
      inventory = ${{ nics: [{ mac: macOf(address) }] } as never} where id = ${host.id}`;
    return Object.assign(host, { address });
  }

  /** Creates a VM that runs on the host with a volume, which its QEMU has open and has written to. */
  async runVm(host: { address: string } & HandDrivenHost, onHostFailure = 'leave') {
    const { sql } = this.#cloud;
    const vmId = await this.#cloud.runVm(host);
    await sql`update vms set on_host_failure = ${onHostFailure} where id = ${vmId}`;
    const [disk] = await sql<
      { id: string }[]
    >`update disks set pool_id = ${this.poolId}, host_id = null, home_id = null
      where id in (select disk_id from disk_attachments where vm_id = ${vmId}) returning id`;
    const diskId = disk?.id ?? '';
    const labels = { installation: 'test', resource: diskId };
    const volume = await this.cluster.createVolume({ ...at(diskId), sizeBytes: 2 ** 30, labels });
    const entity = `gantry-${newId()}`;
    const key = await this.cluster.createKey({ entity, pool: POOL, volume });
    await sql`insert into volume_keys (entity, disk_id, pool_id, host_id, sealed_key)
      values (${entity}, ${diskId}, ${this.poolId}, ${host.id}, 'sealed')`;
    const client = this.cluster.open({
      ...at(diskId),
      address: `${host.address}:0/${++this.#made}`,
      key,
    });
    client.write(`written on ${host.id}`);
    return {
      vmId,
      diskId,
      client,
      entity,
      key,
      content: () => this.cluster.readContent(at(diskId)),
    };
  }

  /** The host loses its connection to the control plane. Its QEMUs and their watches live on. */
  async lose(host: HandDrivenHost): Promise<void> {
    const { sql } = this.#cloud;
    await closeStreams(sql, [{ hostId: host.id, streamEpoch: host.epoch }]);
    await sql`update hosts set last_seen_at = now() - interval '2 minutes' where id = ${host.id}`;
    await markUnreachable({ ...this.#cloud, silence: SILENT, steadyMs: Number.POSITIVE_INFINITY });
  }

  /** An operator declares the host dead. */
  async declareDead(host: HandDrivenHost): Promise<void> {
    const { sql, api, operator: bearer } = this.#cloud;
    await this.lose(host);
    const [row] = await sql<{ name: string }[]>`select name from hosts where id = ${host.id}`;
    const body = { confirm: row?.name };
    const reply = await api.call('POST', `/admin/hosts/${host.id}:fence`, { bearer, body });
    if (reply.status !== 200) throw new Error(JSON.stringify(reply.body));
  }

  async hostView(host: { id: string }) {
    const { api, operator: bearer } = this.#cloud;
    return (await api.call('GET', `/admin/hosts/${host.id}`, { bearer })).body;
  }

  async isPlaced(vmId: string): Promise<boolean> {
    return (await this.#cloud.sql`select from placements where vm_id = ${vmId}`).length > 0;
  }

  async fenceRows(host: { id: string }) {
    return await this.#cloud.sql<{ addresses: string[]; effective: boolean; liftable: boolean }[]>`
      select addresses, effective_at is not null as effective, liftable from storage_fences where host_id = ${host.id}`;
  }
}

const at = (diskId: string) => ({ pool: POOL, name: diskId });

export const macOf = (address: string) =>
  `02:00:${address
    .split('.')
    .map((part) => Number(part).toString(16).padStart(2, '0'))
    .join(':')}`;

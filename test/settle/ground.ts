import {
  makeTenant,
  makeUser,
  SSH_PUBLIC_KEY,
  startTestApi,
  type TestApi,
  type TestTenant,
} from '@gantry/api/testing';
import { createLog } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import { openStream } from '@gantry/db/queries/hosts/host-liveness';
import { newId } from '@gantry/model/ids';
import { addHosts } from '@gantry/scheduler/place/testing/fleet';
import { settleWithoutHost } from '@gantry/scheduler/settle/settle-without-host';
import { HandHost } from './hand-host.ts';

/**
 * The api, the database and hosts that speak by hand: nothing happens here unless a test says so.
 * A test places VMs where it likes and decides what each host reports, and when.
 */
export type Ground = {
  api: TestApi;
  sql: Sql;
  tenant: TestTenant;
  operator: string;
  log: ReturnType<typeof createLog>;
  addHost(options?: {
    sharedStorage?: boolean;
    gpus?: number;
    /** Where other hosts reach it. Null: nowhere. */
    underlayAddress?: string | null;
  }): Promise<HandHost>;
  /** Below the project, as its member. */
  call(method: string, path: string, body?: unknown): ReturnType<TestApi['call']>;
  /** A write that is accepted: the ids of its operation and its resource. */
  ask(method: string, path: string, body?: unknown): Promise<Asked>;
  operation(id: string): Promise<Operation>;
  createVm(): Promise<Asked>;
  /** A VM that runs on the host. */
  runVm(host: HandHost): Promise<string>;
  createDisk(type?: 'persistent-ssd' | 'shared-volume'): Promise<string>;
  place(vmId: string, host: HandHost): Promise<void>;
  /** What needs no host. */
  turn(): Promise<void>;
  vmState(vmId: string): Promise<string>;
  stop(): Promise<void>;
};
export type Asked = { operationId: string; id: string };
export type Operation = { state: string; name: string; result: Record<string, unknown> | null };

let names = 0;
const nextName = () => `thing-${++names}`;

export async function startGround(): Promise<Ground> {
  const api = await startTestApi();
  const { sql } = api;
  const tenant = await makeTenant(api, 'acme');
  await sql`update quotas set max = 100000 where project_id = ${tenant.projectId}`;
  const operator = (await makeUser(api, 'op@gantry.test', { operator: true })).token;
  await sql`update images set source_url = 'file:///image', sha256 = repeat('0', 64)`;
  const log = createLog({ process: 'test', level: 'silent' });
  let addresses = 0;

  const call: Ground['call'] = (method, path, body) =>
    api.call(method, `/projects/${tenant.projectId}${path}`, { bearer: tenant.accessKey, body });

  const ask: Ground['ask'] = async (method, path, body) => {
    const answer = await call(method, path, body);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    const { operation } = answer.body;
    return { operationId: operation.operation_id, id: operation.metadata.id };
  };

  const createVm = () =>
    ask('POST', '/vms', {
      ...{ name: nextName(), type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
      ...{ ssh_public_key: SSH_PUBLIC_KEY, startup_script: '#!/bin/sh\n' },
    });

  const turn = () => settleWithoutHost(sql);

  /** As placement does it: rows of one transaction, and its locks in its order. */
  const place: Ground['place'] = async (vmId, host) => {
    addresses += 1;
    const address = `172.27.${8 + Math.floor(addresses / 200)}.${(addresses % 200) + 10}`;
    await sql.begin(async (tx) => {
      await tx`select from vms where id = ${vmId} for update`;
      await tx`select from disks where id in
        (select disk_id from disk_attachments where vm_id = ${vmId}) order by id for share`;
      await tx`select from hosts where id = ${host.id} for share`;
      await tx`select from networks where id in
        (select network_id from network_interfaces where vm_id = ${vmId}) for no key update`;
      await tx`select from host_revisions where host_id = ${host.id}
        or host_id in (select hosts_with_rules_on(${[vmId]}::uuid[]) union select hosts_sharing_networks(${[vmId]}::uuid[]))
        order by host_id for update`;
      await tx`insert into address_claims (network_interface_id, subnet_id, address)
        select n.id, n.subnet_id, ${address}::inet from network_interfaces n where n.vm_id = ${vmId}
        and not exists (select from address_claims where network_interface_id = n.id)`;
      await tx`insert into placements (vm_id, host_id, epoch) values (${vmId}, ${host.id}, 1)`;
      await tx`insert into device_claims (device_id, vm_id)
        select distinct on (kind) id, ${vmId}::uuid from devices d where host_id = ${host.id} and state = 'ready'
          and not exists (select from device_claims where device_id = d.id) order by kind, pci_address`;
      await tx`update vms set placed = true where id = ${vmId}`;
    });
  };

  return {
    ...{ api, sql, tenant, operator, log, call, ask, createVm, turn, place },
    async addHost({ sharedStorage = false, gpus = 4, underlayAddress = null } = {}) {
      const [row] = await addHosts(sql, 1, { gpus, sharedStorage });
      if (!row) throw new Error('BUG: a host was asked for');
      await sql`update hosts set underlay_address = ${underlayAddress} where id = ${row.id}`;
      const schedulerId = newId();
      await sql`insert into schedulers (id) values (${schedulerId})`;
      const epoch = await openStream(sql, { hostId: row.id, schedulerId });
      return new HandHost(sql, { id: row.id, schedulerId, epoch: epoch ?? '' });
    },
    async operation(id) {
      const [row] = await sql<
        Operation[]
      >`select state, name, result from operations where id = ${id}`;
      if (!row) throw new Error(`there is no operation ${id}`);
      return row;
    },
    async runVm(host) {
      const { id } = await createVm();
      await place(id, host);
      await host.obey();
      return id;
    },
    async createDisk(type = 'persistent-ssd') {
      const { id } = await ask('POST', '/disks', {
        ...{ name: nextName(), type, size: '10GiB', location: 'eu-north-a', block_size: 512 },
      });
      await turn();
      return id;
    },
    async vmState(vmId) {
      const { status, body } = await call('GET', `/vms/${vmId}`);
      return status === 404 ? 'gone' : body.state;
    },
    stop: () => api.stop(),
  };
}

import { createTestDatabase } from '@gantry/testkit/database/test-database';
import { addHosts, type TestHost } from '@gantry/testkit/make/hosts';
import { holdLocation, makePlacer } from '@gantry/testkit/make/placers';
import { addProject } from '@gantry/testkit/make/tenants';
import { addVms, removeVms } from '@gantry/testkit/make/vms';
import type { Placer } from '../place-pending.ts';

export type PlacingWorld = Awaited<ReturnType<typeof startPlacingWorld>>;

/** A database with one project, and a placer that holds the lease of a location. */
export async function startPlacingWorld() {
  const { sql, url, drop } = await createTestDatabase();
  const projectId = await addProject(sql);
  let placer: Placer | undefined;
  type Plan = Omit<Parameters<typeof addVms>[2], 'projectId'>;

  return {
    sql,
    url,
    projectId,
    get placer(): Placer {
      if (placer === undefined) throw new Error('call holdLease first');
      return placer;
    },
    async holdLease(): Promise<void> {
      placer = makePlacer(sql, await holdLocation(sql));
    },
    /** Removes everything that a test may have added. */
    async clear(): Promise<void> {
      const vms = await sql<{ id: string }[]>`select id from vms`;
      await removeVms(
        sql,
        vms.map(({ id }) => id),
      );
      await sql`delete from operations`;
      await sql`delete from public_addresses`;
      await sql`delete from hosts`;
      await sql`delete from schedulers`;
    },
    stop: drop,

    addHost: (plan = {}): Promise<TestHost> => one(addHosts(sql, 1, plan)),
    addHosts: (count: number, plan = {}) => addHosts(sql, count, plan),
    addVm: (type = 'a40.1x') => one(addVms(sql, 1, { projectId, type })),
    addVms: (count: number, plan: Plan = {}) => addVms(sql, count, { projectId, ...plan }),

    async hostOf(vmId: string) {
      const claimed = (kind: 'gpu' | 'drive') => sql`array(select d.id from device_claims c
        join devices d on d.id = c.device_id where d.kind = ${kind} and c.vm_id = p.vm_id order by 1)`;
      const [row] = await sql<
        { host_id: string; epoch: number; gpus: string[]; drives: string[] }[]
      >`
        select p.host_id, p.epoch::int, ${claimed('gpu')} as gpus, ${claimed('drive')} as drives
        from placements p join vms v on v.id = p.vm_id where p.vm_id = ${vmId} and v.placed`;
      return row;
    },
    operationOf: (vmId: string) =>
      one(sql`select state, result from operations where resource_id = ${vmId}
        order by id desc limit 1`),
    vmOf: (vmId: string) => one(sql`select * from vms where id = ${vmId}`),
    async addressOf(vmId: string): Promise<string | undefined> {
      const [row] = await sql<{ address: string }[]>`
        select host(address) as address from address_claims where network_interface_id = ${vmId}`;
      return row?.address;
    },
  };
}

async function one<T>(rows: Promise<readonly T[]>): Promise<T> {
  const [row] = await rows;
  if (row === undefined) throw new Error('nothing there');
  return row;
}

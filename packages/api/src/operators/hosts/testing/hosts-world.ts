import type { Queryable } from '@gantry/db/connect';
import { type Reply, startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import {
  makeTenant,
  makeUser,
  SSH_PUBLIC_KEY,
  type TestTenant,
  type TestUser,
} from '@gantry/testkit/make/tenants';
import { expect, vi } from 'vitest';

export type HostsWorld = Awaited<ReturnType<typeof startHostsWorld>>;

/** An API with a tenant, and what an operator does with hosts. */
export async function startHostsWorld() {
  const api = await startTestApi();
  const acme = await makeTenant(api, 'acme');
  const operator = await makeUser(api, 'operator@gantry.test', { operator: true });
  const admin = adminOf(api, operator);
  return {
    api,
    acme,
    operator,
    admin,
    act: (hostId: string, verb: string) => admin('POST', `/${hostId}:${verb}`),
    fence: (hostId: string, confirm: string) => admin('POST', `/${hostId}:fence`, {}, { confirm }),
    show: async (hostId: string) => (await admin('GET', `/${hostId}`)).body,
    createVm: (name: string, tenant = acme) => createVm(api, { name, tenant }),
    whileOpen: (write: Write, request: () => Promise<Reply>) => whileOpen(api, { write, request }),
    /** Returns the VMs of all tests that have an event of the type, oldest event first. */
    async notifiedOf(type: string): Promise<string[]> {
      const rows = await api.sql<{ resource_id: string }[]>`
        select resource_id from events where type = ${type} order by id`;
      return rows.map((row) => row.resource_id);
    },
  };
}

function adminOf(api: TestApi, { token }: TestUser) {
  return (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) =>
    api.call(method, `/admin/hosts${path}`, { bearer: token, headers, body });
}

async function createVm(
  api: TestApi,
  { name, tenant }: { name: string; tenant: TestTenant },
): Promise<string> {
  const vm = {
    ...{ name, type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
    ssh_public_key: SSH_PUBLIC_KEY,
  };
  const { body } = await api.call('POST', `/projects/${tenant.projectId}/vms`, {
    bearer: tenant.accessKey,
    body: vm,
  });
  return body.operation.metadata.id;
}

type Write = (tx: Queryable) => Promise<void>;

/** Starts a request while a transaction is open that it must wait for, then commits. */
async function whileOpen(
  api: TestApi,
  { write, request }: { write: Write; request: () => Promise<Reply> },
): Promise<Reply> {
  const { waiting } = await api.sql.begin(async (tx) => {
    await write(tx);
    const started = request();
    await vi.waitFor(
      async () => {
        const blocked = await api.sql`select from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`;
        expect(blocked).toHaveLength(1);
      },
      { timeout: 30_000 },
    );
    return { waiting: started };
  });
  return await waiting;
}

import { loseDatabase } from '@gantry/testkit/database/postgres-programs';
import { runRotateAuthorityCommand } from '@gantry/testkit/processes/run-commands';
import { expect, vi } from 'vitest';
import type { Surroundings } from './operated-units.ts';
import { useStorage } from './use-storage.ts';

/** What people do between two commands of a page, or wait for. Returns assignments of variables for the shell. */
export async function useHands(
  [verb, name = '', more = '']: string[],
  around: Surroundings,
): Promise<string> {
  switch (verb) {
    case 'power-on':
      await around.units.order(name, 'start-agent');
      await untilHost(around, name, { state: 'ready', attached: true });
      return '';
    case 'replace-drive':
      await around.units.order(name, 'reboot');
      await untilHost(around, name, { state: 'ready', attached: true });
      return '';
    case 'second-host-is-dead': {
      const [, dead = ''] = around.hosts;
      await around.units.order(dead, 'power-off');
      await untilHost(around, dead, { state: 'unreachable', attached: false });
      return '';
    }
    case 'host-is-fenced':
      await untilHost(around, name, { state: 'fenced', attached: false });
      return '';
    case 'lose-the-database':
      await loseDatabase(around.databaseUrl);
      return '';
    case 'create-vm':
      await createVm(around, name);
      return '';
    case 'find-orphans':
      return await findOrphans(around);
    case 'hosts-have-renewed':
      await untilRenewed(around);
      return '';
    case 'label-second-ring':
      await labelHosts(around, { ring: 'second' });
      return '';
    case 'pause-a-rollout':
      return `ROLLOUT=${await pauseRollout(around, name)}`;
    case 'storage-is-reached':
    case 'activate-pool':
    case 'create-disk':
    case 'first-backup-is-made':
    case 'find-backups':
    case 'create-vm-on':
      return await useStorage([verb, name, more], around);
    default:
      throw new Error(`hands cannot ${verb}`);
  }
}

const PATIENCE = { timeout: 240_000, interval: 50 };
type Wanted = { state: string; attached: boolean };

async function untilHost({ processes: { sql } }: Surroundings, name: string, wanted: Wanted) {
  await vi.waitFor(
    async () =>
      expect(
        await sql`select state, scheduler_id is not null as attached from hosts where name = ${name}`,
      ).toMatchObject([wanted]),
    PATIENCE,
  );
}

async function createVm({ client }: Surroundings, name: string): Promise<void> {
  const operation = await client.createVm({ name, location: 'us-east-a' });
  expect(await client.ended(operation)).toMatchObject({ state: 'SUCCEEDED' });
}

async function findOrphans({ client }: Surroundings): Promise<string> {
  const { body } = await client.admin('GET', '/orphans');
  const [first, second] = body.items;
  return `ORPHAN=${first.id} OTHER_ORPHAN=${second.id}`;
}

/** Every host is attached with a certificate of the newest authority. */
async function untilRenewed({ databaseUrl }: Surroundings): Promise<void> {
  await vi.waitFor(async () => {
    const env = { DATABASE_URL: databaseUrl };
    const { stdout } = await runRotateAuthorityCommand(['status', '--json'], env);
    expect(JSON.parse(stdout)).toMatchObject({ missing: [] });
  }, PATIENCE);
}

async function labelHosts({ client }: Surroundings, labels: Record<string, string>): Promise<void> {
  const { items } = (await client.admin('GET', '/hosts?location=eu-north-a')).body;
  for (const { id } of items.slice(1, 3))
    expect(await client.admin('PATCH', `/hosts/${id}`, { labels })).toMatchObject({ status: 200 });
}

/** Begins a rollout in waves of one host each, and pauses it. */
async function pauseRollout({ client }: Surroundings, version: string): Promise<string> {
  const waves = { canary_count: 1, batch_size: 1, max_failures: 0, host_time_limit_seconds: 60 };
  const created = await client.admin('POST', '/rollouts', {
    ...{ version, labels: { ring: 'second' }, ...waves },
  });
  expect(created).toMatchObject({ status: 200 });
  const paused = await client.admin('POST', `/rollouts/${created.body.id}:pause`);
  expect(paused).toMatchObject({ status: 200 });
  return created.body.id;
}

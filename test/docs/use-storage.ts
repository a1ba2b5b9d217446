import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { Operation } from '@gantry/testkit/processes/client';
import { expect, vi } from 'vitest';
import { bundle } from '../scenarios/cli/run-bundle.ts';
import type { Surroundings } from './operated-units.ts';

/** What people do or wait for in the pages about storage clusters. */
export async function useStorage(
  [verb, name = '', host = '']: string[],
  around: Surroundings,
): Promise<string> {
  const { client } = around;
  switch (verb) {
    case 'storage-is-reached':
      await vi.waitFor(async () => {
        const [cluster] = (await client.admin('GET', '/storage/clusters')).body.items;
        expect(cluster).toMatchObject({ fsid: expect.stringMatching(/./), problem: '' });
        const { items } = (await client.admin('GET', '/storage/pools')).body;
        expect(items).toMatchObject([{ name, problem: '' }]);
      }, PATIENCE);
      return '';
    case 'activate-pool': {
      const { items } = (await client.admin('GET', '/storage/pools')).body;
      for (const isActive of [false, true])
        for (const pool of items)
          if ((pool.name === name) === isActive)
            expect(
              await client.admin('PATCH', `/storage/pools/${pool.id}`, { active: isActive }),
            ).toMatchObject({ status: 200 });
      return '';
    }
    case 'create-disk': {
      const disk = { name, size: '1GiB', location: 'eu-north-a' };
      await succeeds(around, await client.open('POST', '/disks', disk));
      return `DISK=${name}`;
    }
    case 'first-backup-is-made':
      await vi.waitFor(
        async () => expect(await listBackups(around)).toMatchObject([{ state: 'ready' }]),
        PATIENCE,
      );
      return '';
    case 'find-backups': {
      const backups = await listBackups(around);
      const [first] = backups.filter(({ parent_id }) => parent_id === '');
      const [next] = backups.filter(({ parent_id }) => parent_id === first?.id);
      return `DISK_ID=${first?.disk_id} FIRST=${first?.id} NEXT=${next?.id}`;
    }
    case 'create-vm-on':
      return await createVmOn({ name, host }, around);
    default:
      throw new Error(`hands cannot ${verb}`);
  }
}

const PATIENCE = { timeout: 240_000, interval: 100 };
type Named = { name: string };
type Backup = { id: string; disk_id: string; parent_id: string; state: string };

async function succeeds({ client }: Surroundings, operation: Operation): Promise<void> {
  expect(await client.ended(operation)).toMatchObject({ state: 'SUCCEEDED' });
}

async function listBackups({ client }: Surroundings): Promise<Backup[]> {
  return (await client.call('GET', '/backups')).body.items;
}

/** Creates a VM with its disk in the cluster, and returns its name. The other hosts take no VMs meanwhile. */
async function createVmOn({ name, host }: { name: string; host: string }, around: Surroundings) {
  const { client, processes } = around;
  const content = await readFile(bundle);
  const sha256 = createHash('sha256').update(content).digest('hex');
  // Any content is an image to a host that boots nothing.
  await processes.sql`update images set source_url = ${pathToFileURL(bundle).href}, sha256 = ${sha256}`;
  const { items } = (await client.admin('GET', '/hosts?location=eu-north-a&state=ready')).body;
  const others = items.filter((each: Named) => each.name !== host);
  const change = async (verb: string) => {
    for (const { id } of others)
      expect(await client.admin('POST', `/hosts/${id}:${verb}`)).toMatchObject({ status: 200 });
  };
  await change('cordon');
  await succeeds(around, await client.createVm({ name }));
  await change('uncordon');
  return `VM=${name}`;
}

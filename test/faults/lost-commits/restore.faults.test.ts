import { FaultyCloud } from '@gantry/testkit/faults/faulty-cloud';
import type { Client } from '@gantry/testkit/processes/client';
import { runRestoreCommand } from '@gantry/testkit/processes/run-commands';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createVm,
  type History,
  hostsBehind,
  listOrphans,
  liveThroughKnownPart,
  liveThroughLostPart,
  lookAtAll,
  runningDomains,
  succeeds,
} from './history.ts';

/**
 * The database is lost and an old backup takes its place. Meanwhile tenants created, deleted and
 * changed VMs and rules, and the hosts carried that out. A copy of the files has the same timeline
 * as the lost database; a recovery from an archive begins a new one.
 */
describe.each(['new', 'same'] as const)(
  'after a restored backup on the %s timeline',
  (timeline) => {
    let cloud: FaultyCloud;
    let client: Client;
    let history: History;
    let before: Awaited<ReturnType<typeof runningDomains>>;
    let command: Awaited<ReturnType<typeof runRestoreCommand>>;

    beforeAll(async () => {
      cloud = await FaultyCloud.start({
        ...{ fleets: ['eu-north-a:a40-8=2'], schedulers: 2 },
        schedulerEnv: { GANTRY_LEASE_TTL_MS: '2000' },
        fleetEnv: {
          ...{ GANTRY_FLEET_BOOT_MS: '20', GANTRY_FLEET_SHUTDOWN_MS: '20' },
          GANTRY_FLEET_ERASE_MS: '20',
        },
      });
      client = await cloud.connect();
      const known = await liveThroughKnownPart(client);
      const backup = await cloud.servers.backUp();
      history = await liveThroughLostPart(client, known);
      before = await runningDomains(cloud);
      // The steps of docs/operators/recovery.md.
      const members = [...cloud.apis, ...cloud.schedulers];
      await Promise.all(members.map(({ process }) => process.kill()));
      await cloud.servers.restore(backup, { timeline });
      for (const scheduler of cloud.schedulers) await scheduler.restart();
      command = await runRestoreCommand(['--json'], { DATABASE_URL: cloud.servers.url });
      for (const api of cloud.apis) await api.restart();
    });
    afterAll(() => cloud?.stop());

    it('every host accepts specs while the command waits, at most 60 s', async () => {
      expect(command).toMatchObject({ code: 0 });
      await expect.poll(() => hostsBehind(cloud)).toEqual([]);
    });

    it('the command lists every difference', async () => {
      const { missing, strays, orphans, lost, changed } = JSON.parse(command.stdout);
      const ids = (items: { vm_id: string }[]) => items.map(({ vm_id }) => vm_id).sort();
      expect([...missing, ...strays]).toEqual([]);
      expect(ids(orphans)).toEqual([history.lostVm]);
      expect(ids(lost)).toEqual([history.vms.deleted]);
      const { kept, deleted, reset, stopped, 'also-kept': grown } = history.vms;
      const found: string[] = changed.map((change: Record<string, string | null>) =>
        [change['kind'], change['vm_id'] ?? '', change['disk_id'], change['outcome']].join(' '),
      );
      // Both hosts may have VMs of the network.
      expect([...new Set(found)].sort()).toEqual([
        `absent ${deleted}  lost`,
        `absent ${stopped}  started`,
        `ahead ${reset}  none`,
        `disk_attached ${kept} ${history.lostDisk} none`,
        `disk_grown ${grown} ${history.grownDisk} none`,
        `disk_missing  ${history.deletedDisk} none`,
        'network_changed   none',
        `vm_changed ${kept}  none`,
      ]);
      expect(await listOrphans(client)).toEqual([history.lostVm]);
    });

    it('operations that succeed have their effect', async () => {
      const created = await createVm(client, 'after');
      const resets = before.get(history.vms.reset)?.resets ?? 0;
      await succeeds(client, 'PATCH', `/vms/${history.vms.reset}`, { action: 'RESET' });
      await succeeds(client, 'DELETE', `/vms/${history.vms['also-kept']}`);
      const now = await runningDomains(cloud);
      expect(now.has(created)).toBe(true);
      expect(now.get(history.vms.reset)?.resets).toBe(resets + 1);
      expect(now.has(history.vms['also-kept'])).toBe(false);
    });

    it('no VM was destroyed: what ran before runs without interruption', async () => {
      const now = await runningDomains(cloud);
      for (const id of [history.vms.kept, history.lostVm])
        expect(now.get(id)).toEqual(before.get(id));
      const sights = await lookAtAll(cloud);
      expect(sights.flatMap(({ disks }) => disks.map(({ id }) => id))).toContain(history.lostDisk);
    });
  },
);

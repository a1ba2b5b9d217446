import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  hasPostgresPrograms,
  loseDatabase,
  startOldestDatabase,
} from '@gantry/testkit/database/postgres-programs';
import { type Client, connectClient } from '@gantry/testkit/processes/client';
import { runBackupCommand, runRestoreCommand } from '@gantry/testkit/processes/run-commands';
import {
  type Fleet,
  type Processes,
  startProcesses,
} from '@gantry/testkit/processes/start-processes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createVm,
  type History,
  hostsBehind,
  listOrphans,
  liveThroughKnownPart,
  liveThroughLostPart,
  runningDomains,
} from '../../faults/lost-commits/history.ts';

/**
 * The drill of docs/operators/backup.md: tenants work, a backup is made, tenants go on, the database is
 * lost, and the backup is restored into an empty one. The hosts carried out what came after the backup.
 */
describe.skipIf(!hasPostgresPrograms())('a backup that is restored', () => {
  let directory: string;
  let processes: Processes;
  let fleet: Fleet;
  let client: Client;
  let history: History;
  let databaseUrl: string;
  let keys: Record<string, string>;
  let refusals: Record<string, Awaited<ReturnType<typeof runBackupCommand>>>;
  let before: Awaited<ReturnType<typeof runningDomains>>;
  let command: Awaited<ReturnType<typeof runRestoreCommand>>;
  const file = (name: string) => path.join(directory, name);
  const passphrase = () => ['--passphrase-file', file('passphrase')];
  const into = (name: string) => ['--credentials', file(name), ...passphrase()];
  const running = () => runningDomains({ fleets: [{ process: fleet }] });

  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'gantry-backup-'));
    processes = await startProcesses({
      async startDatabase(home) {
        const database = await startOldestDatabase(home);
        databaseUrl = database.databaseUrl;
        return database;
      },
    });
    const api = await processes.startApi();
    const scheduler = await processes.startScheduler();
    fleet = await processes.startFleet({
      ...{ name: 'fleet', hosts: 'eu-north-a:a40-8=2', schedulers: [scheduler], api },
      env: { GANTRY_FLEET_BOOT_MS: '20', GANTRY_FLEET_SHUTDOWN_MS: '20' },
    });
    client = await connectClient(processes, api);
    const [fleetKey = '', secretKey = ''] = processes.secrets;
    keys = { GANTRY_SECRET_KEY: secretKey, GANTRY_FLEET_KEY: fleetKey };
    const env = { DATABASE_URL: databaseUrl, ...keys };
    await writeFile(file('passphrase'), 'correct horse battery staple\n', { mode: 0o600 });
    await writeFile(file('wrong'), 'incorrect horse battery staple\n');

    const known = await liveThroughKnownPart(client);
    const wrongKey = { ...env, GANTRY_FLEET_KEY: 'the fleet key of another installation' };
    const otherKey = await runBackupCommand(['create', file('other'), ...passphrase()], wrongKey);
    const created = await runBackupCommand(['create', file('backup'), ...passphrase()], env);
    expect(created).toMatchObject({ code: 0 });
    history = await liveThroughLostPart(client, known);
    before = await running();

    const restoring = { DATABASE_URL: databaseUrl };
    const restore = (name: string, ...args: string[]) =>
      runBackupCommand(['restore', file(name), ...args], restoring);
    const notEmpty = await restore('backup', ...into('new'));
    await Promise.all([api.kill(), scheduler.kill()]);
    await loseDatabase(databaseUrl);

    const bytes = await readFile(file('backup'));
    await writeFile(file('cut'), bytes.subarray(0, bytes.length - 40_000));
    const changed = Buffer.from(bytes);
    changed[changed.length - 70_000] = 1 + (changed.at(-70_000) ?? 0);
    await writeFile(file('changed'), changed);
    refusals = {
      ...{ otherKey, notEmpty },
      cut: await restore('cut', ...into('cut-keys')),
      changed: await restore('changed', ...into('changed-keys')),
      wrong: await restore(
        'backup',
        '--credentials',
        file('x'),
        '--passphrase-file',
        file('wrong'),
      ),
      command: await restore('backup', '--credentials', file('x'), '--unwrap-command', 'cat'),
    };
    expect(await tableCount()).toBe(0);

    // The steps of docs/operators/backup.md.
    const restored = await restore('backup', ...into('new'));
    expect(restored).toMatchObject({ code: 0 });
    const keysOfBackup = Object.fromEntries(
      await Promise.all(
        Object.keys(keys).map(async (name) => [
          name,
          (await readFile(path.join(file('new'), name), 'utf8')).trimEnd(),
        ]),
      ),
    );
    const at = { GANTRY_FLEET_PORT: String(scheduler.port) };
    await processes.startScheduler({ ...at, ...keysOfBackup });
    command = await runRestoreCommand(['--json'], restoring);
    const { GANTRY_SECRET_KEY } = keysOfBackup;
    await processes.startApi({ GANTRY_PORT: new URL(api.url).port, GANTRY_SECRET_KEY });
  });
  afterAll(async () => {
    await processes?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  async function tableCount(): Promise<number> {
    const [row] = await processes.sql<{ count: number }[]>`
      select count(*)::int as count from pg_tables where schemaname in ('public', 'drizzle')`;
    return row?.count ?? -1;
  }

  it('was refused before, with a reason, whenever something was wrong', () => {
    expect(refusals['otherKey']?.stderr).toMatch(/GANTRY_FLEET_KEY/);
    expect(refusals['notEmpty']?.stderr).toMatch(/the database gantry is not empty/);
    expect(refusals['cut']?.stderr).toMatch(/cut: it was changed, or is not complete/);
    expect(refusals['changed']?.stderr).toMatch(/changed: it was changed, or is not complete/);
    expect(refusals['wrong']?.stderr).toMatch(/the passphrase is not that of the backup/);
    expect(refusals['command']?.stderr).toMatch(/the backup has a passphrase/);
    for (const { code } of Object.values(refusals)) expect(code).toBe(1);
  });

  it('loses nothing that was acknowledged before it', async () => {
    const { items } = (await client.call('GET', '/vms')).body;
    const ids = items.map(({ id }: { id: string }) => id);
    expect(ids.sort()).toEqual(Object.values(history.vms).sort());
    const rules = (await client.call('GET', '/vpc/firewall-rules')).body.items;
    const known = rules.map(({ id }: { id: string }) => id);
    expect(known).toEqual(expect.arrayContaining([history.changedRule, history.deletedRule]));
  });

  it('is followed by all hosts, and what only one side has is listed', async () => {
    expect(command).toMatchObject({ code: 0 });
    await expect.poll(() => hostsBehind(processes)).toEqual([]);
    const { orphans, lost, missing, strays } = JSON.parse(command.stdout);
    expect([...missing, ...strays]).toEqual([]);
    expect(orphans).toMatchObject([{ vm_id: history.lostVm }]);
    expect(lost, command.stdout).toMatchObject([{ vm_id: history.vms.deleted }]);
    expect(await listOrphans(client)).toEqual([history.lostVm]);
  });

  it('destroys nothing: what ran before runs without interruption', async () => {
    const now = await running();
    for (const id of [history.vms.kept, history.vms['also-kept'], history.lostVm])
      expect(now.get(id)).toEqual(before.get(id));
  });

  it('leaves an installation that works', async () => {
    const created = await createVm(client, 'after');
    expect((await running()).has(created)).toBe(true);
  });

  it('can be wrapped by a program instead of a passphrase', async () => {
    const env = { DATABASE_URL: databaseUrl, ...keys };
    const stored = file('kms');
    const wrap = ['--wrap-command', 'tr A-Za-z N-ZA-Mn-za-m'];
    expect(await runBackupCommand(['create', stored, ...wrap], env)).toMatchObject({ code: 0 });
    const unwrap = (program: string) =>
      runBackupCommand(['verify', stored, '--unwrap-command', program], {});
    expect(await unwrap('tr A-Za-z N-ZA-Mn-za-m')).toMatchObject({
      ...{
        code: 0,
        stdout: expect.stringMatching(/complete.*GANTRY_SECRET_KEY, GANTRY_FLEET_KEY/),
      },
    });
    expect((await unwrap('cat')).stderr).toMatch(/its header was changed/);
    expect((await unwrap('false')).stderr).toMatch(/false ended with status 1/);
  });
});

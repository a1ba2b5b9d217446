import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSecrets } from '@gantry/daemon/secrets';
import { startOwnServer } from '@gantry/testkit/database/own-server';
import { connectClient } from '@gantry/testkit/processes/client';
import { runRotateAuthorityCommand } from '@gantry/testkit/processes/run-commands';
import { type Processes, startProcesses } from '@gantry/testkit/processes/start-processes';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** Secrets reach the processes by file, and each process has only those that it needs. */
const SECRET_KEY = 'the secret key of this test, long enough';
const FLEET_KEY = 'the fleet key of this test, long enough too';
const IN_ENVIRONMENT = 'secrets in the environment can be read';
let processes: Processes;
let databaseUrl: string;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'gantry-secrets-'));
  processes = await startProcesses({
    startDatabase: async () => {
      const { url, remove } = await startOwnServer();
      databaseUrl = url;
      return { databaseUrl: url, stop: remove };
    },
  });
  writeFileSync(path.join(folder, 'DATABASE_URL'), `${databaseUrl}\n`);
  writeFileSync(path.join(folder, 'GANTRY_SECRET_KEY'), `${SECRET_KEY}\n`);
  writeFileSync(path.join(folder, 'GANTRY_FLEET_KEY'), `${FLEET_KEY}\n`);
});
afterAll(async () => {
  await processes?.stop();
  rmSync(folder, { recursive: true });
});

const environmentOf = ({ pid }: { pid: number }) => readFileSync(`/proc/${pid}/environ`, 'utf8');
const linesOf = (process: { log(): string }) =>
  process
    .log()
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { msg: string });
const NONE = { DATABASE_URL: '', GANTRY_SECRET_KEY: '', GANTRY_FLEET_KEY: '' };
const inFiles = (...names: string[]) => ({
  ...{ ...NONE, NODE_ENV: 'production' },
  ...Object.fromEntries(names.map((name) => [`${name}_FILE`, path.join(folder, name)])),
});

it('a new installation without a fleet key does not start, and the error names the setting', async () => {
  const starting = processes.startScheduler(inFiles('DATABASE_URL', 'GANTRY_SECRET_KEY'));
  await expect(starting).rejects.toThrow('GANTRY_FLEET_KEY or GANTRY_FLEET_KEY_FILE must be set');
  expect(await processes.sql`select from fleet_authorities`).toHaveLength(0);
});

it('no secret is in /proc/PID/environ if secrets are in files', async () => {
  const api = await processes.startApi(inFiles('DATABASE_URL', 'GANTRY_SECRET_KEY'));
  const scheduler = await processes.startScheduler({
    ...{ ...NONE, NODE_ENV: 'production' },
    CREDENTIALS_DIRECTORY: folder,
  });
  for (const process of [api, scheduler]) {
    const environment = environmentOf(process);
    expect(environment).toContain('NODE_ENV=production');
    for (const secret of [databaseUrl, SECRET_KEY, FLEET_KEY, ...processes.secrets]) {
      expect(environment).not.toContain(secret);
    }
    // The api writes its log in batches.
    await expect.poll(() => linesOf(process).map(({ msg }) => msg)).toContain('ready');
    expect(process.log()).not.toContain(IN_ENVIRONMENT);
  }
  await connectClient(processes, api);
});

it('the key of the fleet authority opens with the fleet key and not with what an api has', async () => {
  const [row] = await processes.sql`select sealed_private_key from fleet_authorities`;
  const open = (key: string) =>
    createSecrets(key).unseal('fleet authority', row?.['sealed_private_key']);
  expect(open(FLEET_KEY)).toContain('PRIVATE KEY');
  expect(() => open(SECRET_KEY)).toThrow();
});

it('a service with secrets in its environment logs a warning that names them', async () => {
  const api = await processes.startApi({
    ...inFiles('DATABASE_URL'),
    GANTRY_SECRET_KEY: SECRET_KEY,
  });
  const warning = () => linesOf(api).find(({ msg }) => msg.startsWith(IN_ENVIRONMENT));
  await expect.poll(warning).toMatchObject({ variables: ['GANTRY_SECRET_KEY'] });
  expect(environmentOf(api)).toContain(SECRET_KEY);
});

it("an operator's command replaces the authority while a scheduler runs", async () => {
  const scheduler = await processes.startScheduler(
    inFiles('DATABASE_URL', 'GANTRY_SECRET_KEY', 'GANTRY_FLEET_KEY'),
  );
  const rotate = async (...args: string[]) => {
    const env = { CREDENTIALS_DIRECTORY: folder };
    const { code, stdout, stderr } = await runRotateAuthorityCommand([...args, '--json'], env);
    return { code, stderr, ...(stdout === '' ? {} : JSON.parse(stdout)) };
  };
  const { issuing: old } = await rotate('status');
  const begun = await rotate('begin');
  expect(begun).toMatchObject({ code: 0, retiring: old, missing: [] });
  expect(await rotate('begin')).toMatchObject({
    ...{ code: 1, stderr: `a rotation is in progress: withdraw ${old} first\n` },
  });
  expect(await rotate('withdraw')).toMatchObject({ code: 0, issuing: begun.issuing });
  expect((await rotate('withdrawal')).stderr).toMatch(/^usage: /);
  await expect
    .poll(() => linesOf(scheduler))
    .toContainEqual(expect.objectContaining({ authorities: [begun.issuing] }));
});

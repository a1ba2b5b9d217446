import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  ApiError,
  type Client,
  createClient,
  memoryTokenStore,
  OperationFailedError,
  type Schemas,
} from '@gantry/sdk';
import { SSH_PUBLIC_KEY } from '@gantry/testkit/make/tenants';
import { type Processes, startProcesses } from '@gantry/testkit/processes/start-processes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LosingProxy, startLosingProxy } from './losing-proxy.ts';

/** The SDK against processes: api, scheduler and simulated hosts, with PostgreSQL. */
let processes: Processes;
let proxy: LosingProxy;
let url: string;
let gantry: Client;
let project_id: string;

beforeAll(async () => {
  processes = await startProcesses();
  const api = await processes.startApi();
  const schedulers = [await processes.startScheduler()];
  await processes.startFleet({
    ...{ name: 'eu', hosts: 'eu-north-a:a40-8=1', schedulers, api },
    env: { GANTRY_FLEET_BOOT_MS: '20', GANTRY_FLEET_ERASE_MS: '20' },
  });
  proxy = await startLosingProxy(api.url);
  url = api.url;
  project_id = processes.credentials.project_id;
  const { access_key: accessKey } = processes.credentials;
  gantry = createClient({ baseUrl: proxy.url, credential: { accessKey } });
});
afterAll(async () => {
  await proxy?.stop();
  await processes?.stop();
});

const newVm = (name: string): Schemas['CreateVm'] => ({
  ...{ name, type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
  ssh_public_key: SSH_PUBLIC_KEY,
});

async function namesOf(filter: { names?: string } = {}): Promise<string[]> {
  const names: string[] = [];
  for await (const vm of gantry.vms.list({ project_id, limit: 1, ...filter })) names.push(vm.name);
  return names.toSorted();
}

it('a VM is created, awaited, listed page by page, stopped and deleted', async () => {
  const steps: string[] = [];
  for (const name of ['one', 'two']) {
    const { operation } = await gantry.vms.create({ project_id, body: newVm(name) });
    const onStep = ({ state }: Schemas['Operation']) => steps.push(`${name} ${state}`);
    const ended = await gantry.waitForOperation({ project_id, operation }, { onStep });
    expect(ended.result).toMatchObject({ name, state: 'STATE_RUNNING' });
  }
  expect(steps[0]).toBe('one IN_PROGRESS');
  expect(steps.at(-1)).toBe('two SUCCEEDED');
  expect(await namesOf()).toEqual(['one', 'two']);
  const page = await gantry.vms.list({ project_id, limit: 1 });
  expect(page.items).toHaveLength(1);
  for await (const { id } of gantry.vms.list({ project_id })) {
    const stop = await gantry.vms.change({ project_id, vm_id: id, body: { action: 'STOP' } });
    await gantry.waitForOperation({ project_id, operation: stop.operation });
    expect((await gantry.vms.get({ project_id, vm_id: id })).state).toBe('STATE_SHUTOFF');
    const { operation } = await gantry.vms.delete({ project_id, vm_id: id });
    await gantry.waitForOperation({ project_id, operation });
  }
  expect(await namesOf()).toEqual([]);
});

it('a creation whose replies are lost is repeated and creates one VM', async () => {
  proxy.lose(2, { method: 'POST', path: '/vms' });
  const { operation } = await gantry.vms.create({ project_id, body: newVm('lost-reply') });
  expect(proxy.lost).toEqual([200, 200]);
  await gantry.waitForOperation({ project_id, operation });
  expect(await namesOf({ names: 'lost-reply' })).toEqual(['lost-reply']);
  const { items } = await gantry.vmOperations.list({
    project_id,
    resource_id: operation.metadata.id,
  });
  expect(items.map(({ operation_id }) => operation_id)).toEqual([operation.operation_id]);
  const [stored] = await processes.sql`select count(*)::int from operations
    where request->>'name' = 'lost-reply'`;
  expect(stored?.['count']).toBe(1);
});

it('a failed operation and a refused request are errors with the code of the server', async () => {
  const body = { ...newVm('too-many'), type: 'a40.8x' };
  const { operation } = await gantry.vms.create({ project_id, body });
  const failure = await gantry
    .waitForOperation({ project_id, operation })
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(OperationFailedError);
  expect(failure).toMatchObject({ code: 'out_of_stock' });
  const refusal = await gantry.vms
    .create({ project_id, body: { ...newVm('one'), name: 'Not a name' } })
    .catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ApiError);
  expect(refusal).toMatchObject({ status: 400, code: 'bad_request', field: 'name' });
  expect((refusal as ApiError).requestId).toMatch(/^[0-9a-f-]{36}$/);
});

describe('a login', () => {
  it('works with a password, and its tokens are refreshed when the server refuses one', async () => {
    const { operator_email: email, operator_password: password } = processes.credentials;
    const store = memoryTokenStore();
    const operator = createClient({ baseUrl: url, credential: { tokens: store } });
    await operator.logIn({ email, password });
    expect((await operator.root.get()).user).toMatchObject({ email, operator: true });
    const held = await store.read();
    if (held === undefined) throw new Error('there are no tokens');
    await store.write({ ...held, access_token: 'ended' });
    const lists = Array.from({ length: 5 }, () => operator.adminHosts.list());
    for (const { items } of await Promise.all(lists)) expect(items).toHaveLength(1);
    expect((await store.read())?.refresh_token).not.toBe(held.refresh_token);
  });

  it('with a wrong password is refused with the code of the server', async () => {
    const { operator_email: email } = processes.credentials;
    const stranger = createClient({ baseUrl: url, credential: { tokens: memoryTokenStore() } });
    const attempt = stranger.logIn({ email, password: 'not the password' });
    await expect(attempt).rejects.toMatchObject({ status: 401, code: 'bad_credential' });
  });
});

const root = path.resolve(import.meta.dirname, '../../..');
const page = readFileSync(path.join(root, 'docs/tenants/sdk.md'), 'utf8');

/** Runs a program of packages/sdk/examples as a process and returns what it prints. */
async function runExample(file: string): Promise<string> {
  const env = {
    ...process.env,
    ...{ GANTRY_URL: url, GANTRY_ACCESS_KEY: processes.credentials.access_key, SSH_PUBLIC_KEY },
  };
  const tsx = path.join(root, 'node_modules/.bin/tsx');
  const { stdout } = await promisify(execFile)(tsx, [file], { env });
  return stdout;
}

it('infrastructure as code is created, read back without drift, changed and destroyed', async () => {
  const [, printed] = /## Infrastructure as code.*?```\n(.*?)```/s.exec(page) ?? [];
  expect(await runExample(path.join(root, 'packages/sdk/examples/provision.ts'))).toBe(printed);
  for (const list of [gantry.networks.list, gantry.subnets.list, gantry.sshKeys.list]) {
    const { items } = await list({ project_id });
    expect(items.map(({ name }) => name)).not.toContain('provision');
  }
});

it('the example of docs/tenants/sdk.md prints what the page says', async () => {
  const [, example, printed] = /```ts\n(.*?)```.*?```\n(.*?)```/s.exec(page) ?? [];
  const file = path.join(root, 'packages/sdk/examples/create-vm.ts');
  expect(example).toBe(readFileSync(file, 'utf8'));
  for await (const { id } of gantry.vms.list({ project_id })) {
    const { operation } = await gantry.vms.delete({ project_id, vm_id: id });
    await gantry.waitForOperation({ project_id, operation });
  }
  expect(await runExample(file)).toBe(printed);
});

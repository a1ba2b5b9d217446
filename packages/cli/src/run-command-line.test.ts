import {
  refusal,
  type ScriptedServer,
  startScriptedServer,
} from '@gantry/sdk/testing/scripted-server';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { makeTestCli, type TestCli } from './testing/run-cli.ts';

let cli: TestCli;
let server: ScriptedServer;

beforeEach(async () => {
  cli = await makeTestCli();
  server = await startScriptedServer(({ line }) => {
    // An access key has no SSH keys of its own.
    if (line.includes('/auth/ssh-keys')) return refusal(403, 'forbidden');
    const names = line.includes('/vms') ? ['trainer', 'trial', 'web'] : ['debian-12'];
    const items = names.map((name) => ({ name }));
    return { status: 200, body: line === 'GET /v0.1' ? { project_id: 'p' } : { items } };
  });
});
afterEach(async () => {
  await server.stop();
  await cli.remove();
});

const environment = () => ({ GANTRY_URL: server.url, GANTRY_ACCESS_KEY: 'gantry_ak_test' });
async function complete(...words: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await cli.run(['__complete', ...words], { env: environment() });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0] ?? '']));
}

it('commands, flags and values are completed', async () => {
  expect(await complete('vm', 'st')).toEqual(['start', 'stop']);
  expect(await complete('vm', 'list', '--st')).toEqual(['--state']);
  expect(await complete('vm', 'list', '--state', 'sh')).toEqual(['shutoff']);
  expect(await complete('completion', '')).toEqual(['bash', 'zsh', 'fish']);
  expect(await complete('man', 'ev')).toEqual(['events']);
  expect(server.seen).toEqual([]);
});

it('names are completed from the API, without flags between them', async () => {
  expect(await complete('vm', 'show', 'tr')).toEqual(['trainer', 'trial']);
  expect(await complete('vm', 'ssh', '')).toEqual(['trainer', 'trial', 'web']);
  expect(await complete('vm', 'create', 'x', '--image', '')).toEqual(['debian-12']);
  expect(await complete('vm', 'create', 'x', '--ssh-key', 'deb')).toEqual(['debian-12']);
  expect(await complete('firewall', 'delete', '')).toEqual(['debian-12']);
});

it('keys of the project and your own are completed, each name once', async () => {
  await server.stop();
  server = await startScriptedServer(({ line }) => {
    const names = line.includes('/auth/') ? ['laptop', 'mine'] : ['laptop', 'shared'];
    const items = names.map((name) => ({ name }));
    return { status: 200, body: line === 'GET /v0.1' ? { project_id: 'p' } : { items } };
  });
  expect(await complete('key', 'remove', '')).toEqual(['laptop', 'shared', 'mine']);
});

it('names of hosts and tenants need no project', async () => {
  const before = server.seen.length;
  expect(await complete('host', 'show', 'deb')).toEqual(['debian-12']);
  expect(await complete('tenant', 'show', 'deb')).toEqual(['debian-12']);
  expect(server.seen.slice(before).map(({ line }) => line)).toEqual([
    ...['GET /v0.1/admin/hosts?limit=1000', 'GET /v0.1/admin/organizations?limit=1000'],
  ]);
});

it('names of contexts are completed, and a context that is typed is the one that is asked', async () => {
  const args = ['login', '--server', server.url, '--access-key', '--context', 'here'];
  await cli.run(args, { input: 'gantry_ak_here' });
  expect(await complete('context', 'use', '')).toEqual(['here']);
  expect(await complete('vm', 'show', '--context', 'he')).toEqual(['here']);
  await complete('vm', 'show', '--context', 'here', 'w');
  expect(server.seen.at(-1)?.bearer).toBe('gantry_ak_here');
});

it('a server that cannot be reached has no completions, and no error either', async () => {
  await server.stop();
  expect(await complete('vm', 'show', '')).toEqual([]);
  server = await startScriptedServer([]);
});

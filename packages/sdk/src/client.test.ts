import { build } from 'esbuild';
import { afterEach, describe, expect, it } from 'vitest';
import { OperationFailedError } from './errors.ts';
import type { Schemas } from './operation.ts';
import { backoffMs, RETRY_LIMITS } from './retry.ts';
import {
  quickClient,
  type ScriptedServer,
  startScriptedServer,
} from './testing/scripted-server.ts';

const PROJECT = '00000000-0000-4000-8000-000000000001';
let server: ScriptedServer | undefined;
afterEach(() => server?.stop());

/** A list of 5 VMs on pages of 2, as the API pages it. */
async function startVmList() {
  server = await startScriptedServer(({ line }) => {
    const query = new URL(line.split(' ')[1] ?? '', 'http://list').searchParams;
    const start = Number(query.get('page_token') ?? 0);
    const items = [0, 1, 2, 3, 4].slice(start, start + 2).map((id) => ({ id }));
    return { status: 200, body: { items, next_page_token: start < 4 ? `${start + 2}` : '' } };
  });
  return { client: quickClient(server), seen: server.seen };
}

describe('a list', () => {
  it('is a page when it is awaited', async () => {
    const { client, seen } = await startVmList();
    const page = await client.vms.list({ project_id: PROJECT, limit: 2, names: 'a,b' });
    expect(page).toEqual({ items: [{ id: 0 }, { id: 1 }], next_page_token: '2' });
    expect(seen.map(({ line }) => line)).toEqual([
      `GET /v0.1/projects/${PROJECT}/vms?limit=2&names=a%2Cb`,
    ]);
  });

  it('repeats a parameter for each value of an array', async () => {
    const { client, seen } = await startVmList();
    await client.vms.list({ project_id: PROJECT, tag: ['env:prod', 'team:a,b'] });
    expect(seen[0]?.line.split('?')[1]).toBe('tag=env%3Aprod&tag=team%3Aa%2Cb');
  });

  it('is every item of every page when it is iterated, with the same filters', async () => {
    const { client, seen } = await startVmList();
    const ids = [];
    for await (const vm of client.vms.list({ project_id: PROJECT, names: 'a' })) ids.push(vm.id);
    expect(ids).toEqual([0, 1, 2, 3, 4]);
    expect(seen.map(({ line }) => line.split('?')[1])).toEqual([
      ...['names=a', 'names=a&page_token=2', 'names=a&page_token=4'],
    ]);
  });

  it('requests no page that is not needed', async () => {
    const { client, seen } = await startVmList();
    for await (const vm of client.vms.list({ project_id: PROJECT }))
      if (String(vm.id) === '1') break;
    expect(seen).toHaveLength(1);
    const pages = [];
    for await (const page of client.vms.list({ project_id: PROJECT }).pages()) pages.push(page);
    expect(pages.map(({ items }) => items.length)).toEqual([2, 2, 1]);
  });

  it('that is a bare array is iterated too', async () => {
    server = await startScriptedServer([{ status: 200, body: [{ name: 'acme' }] }]);
    const names = [];
    for await (const { name } of quickClient(server).organizations.list()) names.push(name);
    expect(names).toEqual(['acme']);
  });
});

describe('waitForOperation', () => {
  const started: Schemas['Operation'] = {
    ...{ operation_id: 'o1', state: 'IN_PROGRESS', result: null },
    metadata: { operation_name: 'CREATE', id: 'v1', type: 'vm', request: {} },
    ...{ started_at: '2026-01-01T00:00:00.000Z', completed_at: '' },
  };

  it('reports each change of the operation once and returns its end', async () => {
    const ended = { ...started, state: 'SUCCEEDED', result: { id: 'v1' } };
    const reordered = Object.fromEntries(Object.entries(started).toReversed());
    server = await startScriptedServer([
      ...[started, reordered, ended].map((body) => ({ status: 200, body })),
    ]);
    const steps: string[] = [];
    const result = await quickClient(server).waitForOperation(
      { project_id: PROJECT, operation: started },
      { onStep: ({ state }) => steps.push(state) },
    );
    expect(result).toEqual(ended);
    expect(steps).toEqual(['IN_PROGRESS', 'SUCCEEDED']);
    expect(server.seen[0]?.line).toBe(`GET /v0.1/projects/${PROJECT}/vms/operations/o1`);
  });

  it("throws the operation's code, message and details if it failed", async () => {
    const result = { code: 'out_of_stock', message: 'no host has room', details: { hosts: 0 } };
    server = await startScriptedServer([
      { status: 200, body: { ...started, state: 'FAILED', result } },
    ]);
    const wait = quickClient(server).waitForOperation({ project_id: PROJECT, operation: started });
    const error = await wait.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(OperationFailedError);
    expect(error).toMatchObject({ ...result, operation: { operation_id: 'o1' } });
  });

  it('ends when its signal is aborted', async () => {
    server = await startScriptedServer([{ status: 200, body: started }]);
    const { seen } = server;
    const controller = new AbortController();
    const wait = quickClient(server).waitForOperation(
      { project_id: PROJECT, operation: started },
      { signal: controller.signal },
    );
    await expect.poll(() => seen.length).toBeGreaterThan(1);
    controller.abort(new Error('enough'));
    await expect(wait).rejects.toThrow('enough');
  });
});

describe('the package', () => {
  it('bundles for browsers, so it imports nothing of Node', async () => {
    const { outputFiles } = await build({
      entryPoints: [new URL('index.ts', import.meta.url).pathname],
      ...{ bundle: true, platform: 'browser', format: 'esm', write: false, logLevel: 'silent' },
    });
    expect(outputFiles[0]?.text).toContain('createClient');
  });

  it('waits up to twice the mean between attempts, and never longer than the limit', () => {
    const longest = (attempt: number) => backoffMs(attempt, RETRY_LIMITS, () => 1);
    expect([1, 2, 3, 4, 5, 6, 7].map(longest)).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000]);
    expect(backoffMs(3, RETRY_LIMITS, () => 0)).toBe(0);
  });
});

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  makeTenant,
  makeUser,
  SSH_PUBLIC_KEY,
  startTestApi,
  type TestApi,
  type TestTenant,
  type TestUser,
} from '../testing.ts';
import { joinHost, placeVm, type TestHost, unplaceVm } from '../testing-hosts.ts';

let api: TestApi;
let acme: TestTenant;
let operator: TestUser;

beforeAll(async () => {
  api = await startTestApi();
  acme = await makeTenant(api, 'acme');
  operator = await makeUser(api, 'operator@gantry.test', { operator: true });
});
afterAll(() => api.stop());

/** The types of one GPU model that can be had in a location now. */
async function available(location = 'eu-north-a', prefix = 'a40.'): Promise<string[]> {
  const path = `/projects/${acme.projectId}/availabilities?location=${location}`;
  const { body } = await api.call('GET', path, { bearer: acme.readOnlyKey });
  return body.items.flatMap((item: { type: string; available: boolean }) =>
    item.available && item.type.startsWith(prefix) ? [item.type] : [],
  );
}

const admin = async (path: string, body?: unknown) => {
  const { status } = await api.call('POST', `/admin/${path}`, { bearer: operator.token, body });
  expect(status).toBe(200);
};

describe('a type', () => {
  let host: TestHost;

  beforeEach(async () => {
    expect(await available()).toEqual([]);
    host = await joinHost(api.sql, { name: 'host-1', gpus: 4 });
    expect(await available()).toEqual(['a40.1x', 'a40.2x', 'a40.4x']);
  });
  afterEach(async () => {
    await api.sql`delete from gpu_claims`;
    await api.sql`delete from placements`;
    await api.sql`delete from hosts`;
  });

  it('can be had where one host has enough free GPUs, not where two have them together', async () => {
    await joinHost(api.sql, { name: 'host-2', gpus: 4 });
    expect(await available()).toEqual(['a40.1x', 'a40.2x', 'a40.4x']);
    await joinHost(api.sql, { name: 'host-3', gpus: 8 });
    expect(await available()).toEqual(['a40.1x', 'a40.2x', 'a40.4x', 'a40.8x']);
  });

  it('can be had of the right model in the right location alone', async () => {
    expect(await available('us-east-a')).toEqual([]);
    expect(await available('eu-north-a', 'a100')).toEqual([]);
  });

  it.each(['cordon', 'drain'])('cannot be had after a %s until it is undone', async (verb) => {
    await admin(`hosts/${host.id}:${verb}`);
    expect(await available()).toEqual([]);
    await admin(`hosts/${host.id}:uncordon`);
    expect(await available()).toEqual(['a40.1x', 'a40.2x', 'a40.4x']);
  });

  it('cannot be had of a GPU in quarantine until it is released', async () => {
    await admin(`devices/${host.gpuIds[0]}:quarantine`, { reason: 'Xid 79' });
    expect(await available()).toEqual(['a40.1x', 'a40.2x']);
    await admin(`devices/${host.gpuIds[0]}:release`);
    expect(await available()).toEqual(['a40.1x', 'a40.2x', 'a40.4x']);
    for (const id of host.gpuIds) await admin(`devices/${id}:quarantine`, { reason: 'all' });
    expect(await available()).toEqual([]);
  });

  it('cannot be had of a GPU that was not proven clean, whatever operators say', async () => {
    await api.sql`update gpus set state = 'quarantined' where id = ${host.gpuIds[0] ?? ''}`;
    await admin(`devices/${host.gpuIds[0]}:release`);
    expect(await available()).toEqual(['a40.1x', 'a40.2x']);
  });

  it('cannot be had of a GPU that a VM has, until it is free again', async () => {
    const { body } = await api.call('POST', `/projects/${acme.projectId}/vms`, {
      bearer: acme.accessKey,
      body: {
        ...{ name: 'claims', type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
        ssh_public_key: SSH_PUBLIC_KEY,
      },
    });
    const vmId = body.operation.metadata.id;
    await placeVm(api.sql, { vmId, hostId: host.id, gpuIds: host.gpuIds.slice(0, 3) });
    expect(await available()).toEqual(['a40.1x']);
    await unplaceVm(api.sql, vmId);
    expect(await available()).toEqual(['a40.1x', 'a40.2x', 'a40.4x']);
  });

  it.each(['unreachable', 'fenced'])('cannot be had of a host that is %s', async (state) => {
    await api.sql`update hosts set state = ${state} where id = ${host.id}`;
    expect(await available()).toEqual([]);
  });
});

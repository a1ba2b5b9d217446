import { startTestApi } from '@gantry/testkit/api/test-api';
import { addHosts } from '@gantry/testkit/make/hosts';
import { placeVm } from '@gantry/testkit/make/placements';
import { makeAccessKey, makeTenant, makeUser } from '@gantry/testkit/make/tenants';
import { addVms } from '@gantry/testkit/make/vms';
import { expect, it } from 'vitest';
import { createRateLimiter } from '../base/rate-limit.ts';

it('all credentials of an organization share one rate, and neighbours keep theirs', async () => {
  let nowMs = 0;
  const api = await startTestApi({
    organizationLimiter: createRateLimiter({
      ...{ perSecond: 2, burst: 8, of: ' of the organization', now: () => nowMs },
    }),
  });
  try {
    const acme = await makeTenant(api, 'acme');
    const other = await makeTenant(api, 'other');
    const operator = await makeUser(api, 'operator@gantry.test', { operator: true });
    const keys: string[] = [];
    for (let i = 0; i < 11; i += 1) keys.push(await makeAccessKey(api, acme.projectId, 'member'));
    const bearers = [...keys, acme.owner.token, acme.readOnly.token];
    const get = (bearer: string, path = `/projects/${acme.projectId}/vms`) =>
      api.call('GET', path, { bearer });

    const statuses = [];
    for (const bearer of bearers) statuses.push((await get(bearer)).status);
    expect(statuses).toEqual([...Array(8).fill(200), ...Array(5).fill(429)]);

    // A path without an organization, and one of a neighbour, are no way around the limit.
    for (const path of ['/projects', `/projects/${other.projectId}/vms`]) {
      const refused = await get(acme.owner.token, path);
      expect(refused.body.message).toBe('too many requests of the organization: try again in 1 s');
      expect(refused.headers.get('retry-after')).toBe('1');
    }
    expect((await get(other.accessKey, `/projects/${other.projectId}/vms`)).status).toBe(200);
    expect((await get(operator.token)).status).toBe(200);

    nowMs += 1_000;
    const later = [];
    for (const bearer of keys.slice(0, 3)) later.push((await get(bearer)).status);
    expect(later).toEqual([200, 200, 429]);
  } finally {
    await api.stop();
  }
});

it('a change of a rule counts as one more request for every ten hosts that get it', async () => {
  const api = await startTestApi({
    organizationLimiter: createRateLimiter({ perSecond: 1, burst: 8, now: () => 0 }),
  });
  try {
    const { projectId, accessKey } = await makeTenant(api, 'acme');
    const hosts = await addHosts(api.sql, 21, { gpus: 1 });
    const vmIds = await addVms(api.sql, hosts.length, { projectId });
    for (const [i, vmId] of vmIds.entries())
      await placeVm(api.sql, { vmId, hostId: hosts[i]?.id ?? '' });
    const call = (method: string, path: string, body?: object) =>
      api.call(method, `/projects/${projectId}/vpc${path}`, {
        ...{ bearer: accessKey, ...(body && { body }) },
      });

    const network = (await call('GET', '/networks')).body.items[0];
    const created = await call('POST', '/firewall-rules', {
      ...{ name: 'r', vpc_network_id: network.id, action: 'allow', direction: 'ingress' },
      ...{ protocols: ['tcp'], sources: [], destinations: [] },
    });
    expect(created.status).toBe(200);
    // Of eight requests, the list was one and the rule three.
    const statuses = [];
    for (let i = 0; i < 5; i += 1) statuses.push((await call('GET', '/networks')).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
  } finally {
    await api.stop();
  }
});

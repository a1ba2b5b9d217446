import { startTestApi } from '@gantry/testkit/api/test-api';
import { makeAccessKey, makeTenant, makeUser } from '@gantry/testkit/make/tenants';
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

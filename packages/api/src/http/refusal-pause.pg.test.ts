import { startTestApi } from '@gantry/testkit/api/test-api';
import { makeTenant } from '@gantry/testkit/make/tenants';
import { expect, it } from 'vitest';
import { createRateLimiter } from '../base/rate-limit.ts';

it('the reply to a client that ignores refusals waits, and no other reply does', async () => {
  let pauses = 0;
  const api = await startTestApi({
    rateLimiter: createRateLimiter({ perSecond: 1, burst: 3, now: () => 0 }),
    refusalPause: async () => {
      pauses += 1;
    },
  });
  try {
    const [acme, other] = [await makeTenant(api, 'acme'), await makeTenant(api, 'other')];
    const get = async ({ projectId, accessKey }: typeof acme) =>
      (await api.call('GET', `/projects/${projectId}/vms`, { bearer: accessKey })).status;
    const seen = [];
    for (let i = 0; i < 110; i += 1) seen.push({ status: await get(acme), pauses });
    expect(seen.filter(({ status }) => status === 429)).toHaveLength(107);
    // The first hundred refusals may be those of many honest clients at the same time.
    expect(seen.findIndex((one) => one.pauses > 0)).toBe(103);
    expect(pauses).toBe(7);
    expect(await get(other)).toBe(200);
    expect(pauses).toBe(7);
  } finally {
    await api.stop();
  }
});

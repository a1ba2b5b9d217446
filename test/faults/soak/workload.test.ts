import { ALL_ROUTES } from '@gantry/api/routes';
import { describe, expect, it } from 'vitest';
import { longestGap } from './schedule.ts';
import { VERBS } from './verbs.ts';

/** Writes of tenants that change no resource of a project. */
const WITHOUT_EFFECT = [
  'post /projects/{project_id}/vpc/firewall-rules:trace',
  'post /projects/{project_id}/vms:validate',
  'post /projects/{project_id}/vms/{vm_id}/console',
];

describe('the workload', () => {
  it('contains every write of a tenant to the resources of a project', () => {
    const writes = ALL_ROUTES.filter(
      ({ method, path }) => method !== 'get' && path.startsWith('/projects/{project_id}/'),
    ).map(({ method, path }) => `${method} ${path}`);
    const covered = new Set(VERBS.map(({ route }) => route));
    expect(writes.filter((route) => !covered.has(route)).sort()).toEqual(WITHOUT_EFFECT.sort());
  });
});

describe('the standstill', () => {
  it('is the longest gap from the beginning of a fault to the first success after it', () => {
    expect(longestGap([50, 110, 150, 400, 420], 100, 300)).toBe(250);
    expect(longestGap([50, 110, 310, 900], 100, 300)).toBe(200);
  });
});

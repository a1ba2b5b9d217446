import { it } from 'vitest';
import { startSubject } from './subject.ts';
import { makeWorld } from './world.ts';
it('probe', async () => {
  const s = await startSubject();
  const w = await makeWorld(s.api);
  for (const query of ['?names=%00', '?types=a%00', '?names=%ed%a0%80', '?ids=', '?limit=1&limit=2']) {
    const x = await s.send({ method: 'GET', path: '/v0.1/projects/{{own.project_id}}/vms', query, bearer: 'owner', headers: {}, body: undefined }, w);
    console.log(query, x.status, x.text.slice(0, 200), x.troubles);
  }
  await s.api.stop();
});

import { startTestApi, makeTenant } from '@gantry/api/testing';
import { it, expect } from 'vitest';
it('x', async () => {
  const api = await startTestApi();
  const t = await makeTenant(api, 'acme');
  const doc = (await api.call('GET', '/openapi.json')).body;
  for (const [p, m] of Object.entries(doc.paths)) console.log(Object.keys(m as object).join(','), p);
  console.log(JSON.stringify((await api.call('POST', '/auth/token', { body: {} })).body));
  console.log(JSON.stringify((await api.call('POST', '/auth/token', { body: {grant_type:'password'} })).body));
  console.log(JSON.stringify((await api.call('POST', `/projects/${t.projectId}/vms`, { bearer: t.accessKey, body: {} })).body));
  console.log(JSON.stringify(doc.components.schemas.Root), JSON.stringify(doc.components.schemas.Operation));
  console.log(JSON.stringify(doc.paths['/v0.1/projects/{project_id}/vms'].get.parameters));
  await api.stop();
});

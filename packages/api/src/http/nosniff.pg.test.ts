import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildApp } from '../app.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

it('every page, route and error forbids browsers to guess its content type', async () => {
  const app = buildApp(api.deps);
  const targets = app.routes.map(({ method, path }) => ({
    method,
    path: path.replaceAll(/:\w+_id|:token/g, 'x'),
  }));
  expect(targets.length).toBeGreaterThan(50);
  const unguarded: string[] = [];
  for (const { method, path } of [...targets, { method: 'GET', path: '/no-such-page' }]) {
    const { headers } = await app.request(path, { method });
    if (headers.get('x-content-type-options') !== 'nosniff') unguarded.push(`${method} ${path}`);
  }
  expect(unguarded).toEqual([]);
});

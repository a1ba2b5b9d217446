import { startTestApi, type TestApi } from '@gantry/testkit/api/test-api';
import { makeTenant, type TestTenant } from '@gantry/testkit/make/tenants';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';

let api: TestApi;
let acme: TestTenant;

beforeAll(async () => {
  api = await startTestApi();
  acme = await makeTenant(api, 'acme');
});
afterAll(() => api.stop());
afterEach(() => api.sql`delete from availabilities`);

type Item = { type: string; location: string; available: boolean; reason: string };
async function list(query = ''): Promise<Item[]> {
  const path = `/projects/${acme.projectId}/availabilities${query}`;
  const { body } = await api.call('GET', path, { bearer: acme.readOnlyKey });
  return body.items;
}
/** Writes what the scheduler of the location writes. */
const record = (type: string, location: string, available: boolean) =>
  api.sql`insert into availabilities (location, vm_type, available) values (${location}, ${type}, ${available})`;

it('every offered type is listed as unavailable until a scheduler has recorded its availability', async () => {
  const items = await list();
  expect(items).toHaveLength(34);
  expect(items.filter(({ available }) => available)).toEqual([]);
});

it('the availability that the scheduler recorded is shown', async () => {
  await record('a40.1x', 'eu-north-a', true);
  await record('a40.2x', 'eu-north-a', false);
  const offer = { type: 'a40.1x', location: 'eu-north-a', available: true, reason: '' };
  // A scheduler of an earlier version records no number.
  const counted = { count: 1, usd_per_hour: 0, priced: false };
  expect((await list()).filter(({ available }) => available)).toEqual([{ ...offer, ...counted }]);
  await api.sql`update availabilities set fitting = 7 where available`;
  await api.sql`insert into prices (resource_type, usd_per_hour) values ('a40.1x', 1.25)`;
  expect(await list('?product_name=a40.1x&location=eu-north-a')).toEqual([
    { ...offer, count: 7, usd_per_hour: 1.25, priced: true },
  ]);
  await api.sql`delete from prices where resource_type = 'a40.1x'`;
});

it('a type that does not fit has a reason, which names no host', async () => {
  await api.sql`insert into availabilities (location, vm_type, available, lacking)
    values ('eu-north-a', 'a40.1x', false, 'memory'), ('eu-north-a', 'a40.2x', false, 'schedulable')`;
  const reasons = (await list('?location=eu-north-a')).slice(0, 3).map(({ reason }) => reason);
  expect(reasons).toEqual([
    'no host with free GPUs has enough free memory: try again later, or another type or location',
    'no host for this type takes new VMs: try again later, or another type or location',
    'no host for this type takes new VMs: try again later, or another type or location',
  ]);
});

it('types that are retired or no longer offered in a location are not listed', async () => {
  await record('a40.1x', 'eu-north-a', true);
  await record('a40.2x', 'us-east-a', true);
  await api.sql`update vm_types set retired = true where name = 'a40.1x'`;
  await api.sql`delete from vm_type_locations where vm_type = 'a40.2x' and location = 'us-east-a'`;
  expect((await list()).filter(({ available }) => available)).toEqual([]);
  expect(await list('?product_name=a40.1x')).toEqual([]);
});

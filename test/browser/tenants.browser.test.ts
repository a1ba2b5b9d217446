import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ConsolePage } from './support/console-page.ts';
import { startConsole, type TestConsole } from './support/start-console.ts';

/** An operator looks after tenants and what they can choose. */
let world: TestConsole;
let operator: ConsolePage;

beforeAll(async () => {
  world = await startConsole();
  operator = await world.open();
  await operator.logIn(world.operator);
});
afterAll(() => world?.stop());

const dialog = () => operator.page.getByRole('dialog');
const submit = async (action: string) => {
  await dialog().getByRole('button', { name: action, exact: true }).click();
  await dialog().waitFor({ state: 'detached' });
};
const openScreen = async (name: string) => {
  await operator.page.getByRole('link', { name, exact: true }).click();
  await operator.page.getByRole('heading', { name, level: 1 }).waitFor();
};
const organization = async () => (await world.client.admin('GET', '/organizations')).body.items[0];

it('an organization is suspended only after its name was typed, and resumed', async () => {
  const { page, look } = operator;
  const { name } = await organization();
  await openScreen('Tenants');
  await look('tenants');
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Suspend' }).click();
  await dialog().getByLabel('Reason').fill('The invoice of May was charged back.');
  await dialog().getByLabel('Hours until running VMs are stopped').fill('48');
  const confirm = dialog().getByRole('button', { name: 'Suspend' });
  expect(await confirm.isDisabled()).toBe(true);
  await dialog().getByLabel(`Type ${name} to confirm`).fill(name);
  await look('tenant-suspend');
  await submit('Suspend');
  await page.getByText('The invoice of May was charged back.').waitFor();
  await page.getByText('Its VMs are stopped in 2 days').waitFor();
  expect(await organization()).toMatchObject({ standing: 'suspended' });
  await page.getByRole('button', { name: 'Resume' }).click();
  await submit('Resume');
  await page.getByText('Good', { exact: true }).waitFor();
  expect(await organization()).toMatchObject({ standing: 'good' });
});

it('quotas of an organization and of its projects are changed', async () => {
  const { page, look } = operator;
  const quotas = page.locator('section').filter({ hasText: 'Quotas of the organization' });
  await quotas.getByText('0 of 8,000').waitFor();
  await page.getByRole('button', { name: 'Change the quotas of the organization' }).click();
  await dialog().getByLabel('GPUs').fill('16');
  await submit('Save');
  await quotas.getByText('0 of 16').waitFor();
  await look('tenant');
  const { body } = await world.client.admin('GET', `/projects/${world.projectId}/quotas`);
  expect(body.quotas).toContainEqual({ type: 'gpus', max: 4_000, used: 0, available: 4_000 });
});

it('a VM type gets a price, is offered elsewhere, and is retired', async () => {
  const { page, look } = operator;
  await openScreen('Catalogue');
  const types = page.getByRole('table', { name: 'VM types' });
  const row = types.getByRole('row').filter({ hasText: 'a40.2x' });
  await row.waitFor();
  await look('catalogue-types');
  await page.getByRole('button', { name: 'Edit a40.2x' }).click();
  await dialog().getByLabel('Retired').check();
  await submit('Save');
  await row.getByText('Retired').waitFor();
  await page.getByRole('button', { name: 'Add VM type' }).click();
  await dialog().getByLabel('Name').fill('a40.half');
  await dialog().getByLabel('GPU model').fill('A40 48GB PCIe');
  await dialog().getByLabel('CPU model').fill('AMD EPYC');
  await dialog().getByLabel('Kind of memory').fill('DDR4');
  await dialog().getByLabel('eu-north-a').check();
  await look('catalogue-add-type');
  await submit('Add');
  await types.getByRole('row').filter({ hasText: 'a40.half' }).getByText('eu-north-a').waitFor();
  await page.getByRole('tab', { name: 'Prices' }).click();
  await page.getByRole('button', { name: 'Set price of a40.1x' }).click();
  await dialog().getByLabel('US dollars for each hour').fill('1.25');
  await submit('Save');
  const priced = page.getByRole('row').filter({ hasText: 'a40.1x' });
  await priced.getByText('$1.25').waitFor();
  await look('catalogue-prices');
  await page.getByRole('button', { name: 'Remove the price of a40.1x' }).click();
  await submit('Remove');
  await priced.getByText('none').waitFor();
});

it('an image and public addresses are added and removed', async () => {
  const { page, look } = operator;
  await page.getByRole('tab', { name: 'Images' }).click();
  await page.getByRole('button', { name: 'Add image' }).click();
  await dialog().getByLabel('Name').fill('debian-14');
  await dialog().getByLabel('Address').fill('https://images.example.com/debian-14.qcow2');
  await dialog().getByLabel('SHA-256').fill('a'.repeat(64));
  await dialog().getByLabel('eu-north-a').check();
  await submit('Add');
  await page.getByText('https://images.example.com/debian-14.qcow2').waitFor();
  await look('catalogue-images');
  await page.getByRole('button', { name: 'Delete debian-14' }).click();
  await submit('Delete');
  await page.getByText('debian-14.qcow2').waitFor({ state: 'detached' });
  await page.getByRole('tab', { name: 'Public addresses' }).click();
  await page.getByRole('button', { name: 'Add addresses' }).click();
  await dialog().getByLabel('Location').selectOption('eu-north-a');
  await dialog().getByLabel('Block of addresses').fill('192.0.2.0/30');
  await submit('Add');
  await page.getByLabel('Search addresses').fill('192.0.2.');
  await page.getByRole('row').filter({ hasText: '192.0.2.3' }).getByText('Free').waitFor();
  await look('catalogue-addresses');
  await page.getByRole('button', { name: 'Remove 192.0.2.3' }).click();
  await submit('Remove');
  await page.getByText('192.0.2.3').waitFor({ state: 'detached' });
});

it('a location is added and described', async () => {
  const { page, look } = operator;
  await page.getByRole('tab', { name: 'Locations' }).click();
  await page.getByRole('button', { name: 'Add location' }).click();
  await dialog().getByLabel('Name').fill('eu-north-z');
  await dialog().getByLabel('Region').fill('eu-north');
  await dialog().getByLabel('Zone').fill('z');
  await submit('Add');
  await page.getByRole('button', { name: 'Edit eu-north-z' }).click();
  await dialog().getByLabel('Description').fill('The new hall');
  await submit('Save');
  await page.getByRole('row').filter({ hasText: 'eu-north-z' }).getByText('The new hall').waitFor();
  await look('catalogue-locations');
});

it('a user is added with a link, and all of it is in the audit log', async () => {
  const { page, look } = operator;
  await openScreen('Users');
  await page.getByRole('button', { name: 'Add user' }).click();
  await dialog().getByLabel('E-mail address').fill('grace@example.com');
  await dialog().getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('region', { name: 'invitation' }).waitFor();
  await look('users-invitation');
  await page.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('button', { name: 'Actions for grace@example.com' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await submit('Delete');
  await page.getByText('grace@example.com').waitFor({ state: 'detached' });
  await look('users');
  await openScreen('Audit log');
  const log = page.getByRole('table', { name: 'Audit log' });
  await log.getByText('admin-users.delete').waitFor();
  await look('audit-log');
  await page.getByLabel('Action').fill('admin-organizations.suspend');
  await page.getByRole('button', { name: 'Filter' }).click();
  await expect.poll(() => log.getByRole('row').count()).toBe(2);
  expect(await log.getByRole('row').last().textContent()).toContain('admin-organizations.suspend');
  expect(operator.errors).toEqual([]);
});

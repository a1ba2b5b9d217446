import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ConsolePage } from './support/console-page.ts';
import { startConsole, type TestConsole } from './support/start-console.ts';

/** One tenant lives through the life of a VM, in the order of the tests. */
let world: TestConsole;
let tenant: ConsolePage;
/** A reserved public address. */
let address: string;
const KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx ada@example';

beforeAll(async () => {
  world = await startConsole();
  await world.client.admin('PUT', '/prices/a40.1x', { usd_per_hour: 1.25 });
  await world.client.call('POST', '/ssh-keys', { name: 'laptop', public_key: KEY });
  const location = 'eu-north-a';
  await world.client.ended(
    await world.client.open('POST', '/disks', { name: 'scratch', size: '10GiB', location }),
  );
  const front = { name: 'front', location };
  address = (await world.client.call('POST', '/vpc/public-addresses', front)).body.address;
  tenant = await world.open();
  await tenant.logIn(world.tenant);
});
afterAll(() => world?.stop());

const confirm = async (action: string, typed?: string) => {
  const dialog = tenant.page.getByRole('dialog');
  if (typed) await dialog.getByLabel(`Type ${typed} to confirm`).fill(typed);
  await dialog.getByRole('button', { name: action, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
};

it('the form shows what is available and what it costs, and the same request for other tools', async () => {
  const { page, look } = tenant;
  await page.getByText('This project has no VM yet').waitFor();
  await look('vms-empty');
  await page.getByRole('link', { name: 'Create VM' }).first().click();
  await page.getByRole('heading', { name: 'Create a VM' }).waitFor();
  await page.getByRole('radio', { name: 'a40.1x' }).check();
  await page.getByText('Up to 16 VMs of this type fit now').waitFor();
  await page.getByText('$1.25 per hour').waitFor();
  await page.getByLabel('Name').fill('trainer');
  await page.getByLabel('laptop').check();
  await page.getByLabel('Tags').fill('env=prod');
  const command = page.getByRole('region', { name: 'command' });
  expect(await command.textContent()).toContain('gantry vm create trainer');
  await page.getByRole('tab', { name: 'curl' }).click();
  expect(await command.textContent()).toContain('"ssh_keys": [\n    "laptop"\n  ]');
  await page.getByRole('tab', { name: 'SDK' }).click();
  await page.getByRole('region', { name: 'program' }).waitFor();
  await page.evaluate('scrollTo(0, 0)');
  await look('create-vm');
});

it('a value that the server refuses is named at its field, and nothing is created', async () => {
  const { page } = tenant;
  await page.getByLabel('User data').fill('neither a script nor a config');
  const field = page.getByLabel('User data');
  // The form is checked without a click.
  await expect.poll(() => field.getAttribute('aria-invalid')).toBe('true');
  await page.getByRole('button', { name: 'Create VM' }).click();
  await page.getByText('The VM was not created').waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  expect((await world.client.call('GET', '/vms')).body.items).toEqual([]);
  await field.fill('');
});

it('disks and a reserved address are chosen, and new disks are part of the price', async () => {
  const { page, look } = tenant;
  await page.getByLabel('scratch').check();
  await page.getByRole('button', { name: 'Add a new disk' }).click();
  await page.getByLabel('Name of the disk').fill('data');
  await page.getByLabel('Size (GiB)').fill('1000');
  await page.getByLabel('Public address').selectOption({ label: `front (${address}), reserved` });
  const charges = page.getByRole('list', { name: 'Charges' });
  await charges.getByText(/^persistent-ssd/).waitFor();
  await page.getByRole('tab', { name: 'CLI' }).click();
  const command = page.getByRole('region', { name: 'command' });
  expect(await command.textContent()).toContain('--public-address front');
  expect(await command.textContent()).toContain('--disk scratch');
  await page.getByText('Data disks', { exact: true }).scrollIntoViewIfNeeded();
  await look('create-vm-disks');
});

it('a new VM shows its steps until it runs, without a reload', async () => {
  const { page, look } = tenant;
  await page.getByRole('button', { name: 'Create VM' }).click();
  await page.getByRole('heading', { name: 'trainer' }).waitFor();
  const steps = page.getByRole('list', { name: 'Steps' });
  await steps.getByText('Host chosen, done').waitFor();
  await steps.getByText('Done, done').waitFor();
  await page.getByText('Running', { exact: true }).waitFor();
  await page.getByText(`ssh root@${address}`).waitFor();
  const { items } = (await world.client.call('GET', '/disks')).body;
  const attached = items.filter(({ vm_ids }: { vm_ids: string[] }) => vm_ids.length === 1);
  expect(attached.map(({ name }: { name: string }) => name).sort()).toEqual([
    'data',
    'scratch',
    'trainer',
  ]);
  await page.getByText('$1.25 per hour while it runs').waitFor();
  await page.getByText('trainer login:').waitFor();
  await look('vm-running');
});

it('the terminal shows what the VM prints, sends what is typed, and lets the keyboard out', async () => {
  const { page, look } = tenant;
  await page.getByRole('button', { name: 'Open a terminal' }).click();
  await page.getByText('Connected.').waitFor();
  await page.keyboard.type('hello from the console');
  await page.keyboard.press('Enter');
  await page.locator('.xterm-rows').getByText('hello from the console').first().waitFor();
  await look('vm-terminal');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Shift+Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Close the terminal');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Open a terminal' }).waitFor();
});

it('a VM is stopped and edited on its page and started from the list, each after a question', async () => {
  const { page, look } = tenant;
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByText('Its GPUs are given back').waitFor();
  await look('vm-stop');
  await confirm('Stop');
  await page.getByText('Stopped', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Edit' }).click();
  const edit = page.getByRole('dialog');
  await edit.getByLabel('Tags').fill('env=prod, team=vision');
  await edit.getByLabel('Type').selectOption('a40.2x');
  await edit.getByRole('button', { name: 'Save' }).click();
  await page.getByText('team: vision').waitFor();
  await page.getByText(/^a40\.2x: 2 ×/).waitFor();
  await page.getByRole('link', { name: 'Virtual machines' }).first().click();
  await page.getByRole('button', { name: 'Actions for trainer' }).click();
  await page.getByRole('menuitem', { name: 'Start' }).click();
  await confirm('Start');
  await page.getByRole('row', { name: 'trainer' }).getByText('Running').waitFor();
});

it('the list is limited by name, state and tag, and the address of the page keeps the limits', async () => {
  const { page, look } = tenant;
  await world.client.ended(await world.client.createVm({ name: 'other' }));
  await page.getByRole('row', { name: 'other' }).waitFor();
  await look('vms');
  await page.getByLabel('Tag').selectOption('env:prod');
  await page.getByRole('row', { name: 'other' }).waitFor({ state: 'detached' });
  await page.getByLabel('State').selectOption('Running');
  await page.getByLabel('Filter by name').fill('train');
  await page.reload();
  await page.getByRole('row', { name: 'trainer' }).waitFor();
  expect(await page.getByRole('row', { name: 'other' }).count()).toBe(0);
  await page.getByLabel('Filter by name').fill('nothing like it');
  await page.getByText('No VM matches the filter.').waitFor();
  await page.getByLabel('Filter by name').fill('');
});

it('a VM is reset, its crash is in the timeline, and it is deleted after its name was typed', async () => {
  const { page, look } = tenant;
  await page.getByRole('link', { name: 'trainer' }).click();
  await page.getByRole('button', { name: 'Reset' }).click();
  await confirm('Reset');
  await page.getByRole('heading', { name: 'Reset' }).waitFor();
  await page.getByRole('list', { name: 'Steps' }).getByText('Done, done').waitFor();
  const vmId = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  await world.fleet.order(await world.fleet.hostOf(vmId), 'crash', { vm_id: vmId });
  await page.getByText('Crashed', { exact: true }).first().waitFor();
  await page.getByText('the VM ended without a request').waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  await look('vm-delete');
  const remove = page.getByRole('dialog').getByRole('button', { name: 'Delete' });
  expect(await remove.isDisabled()).toBe(true);
  await confirm('Delete', 'trainer');
  await page.getByText('This VM does not exist').waitFor();
  expect(tenant.errors.filter((error) => !/status of (400|404)/.test(error))).toEqual([]);
});

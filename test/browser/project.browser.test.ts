import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ConsolePage } from './support/console-page.ts';
import { totpCode } from './support/second-factor.ts';
import { startConsole, type TestConsole } from './support/start-console.ts';

/** An owner looks at the network, the cost and the access of a project. */
let world: TestConsole;
let owner: ConsolePage;
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx me';

beforeAll(async () => {
  world = await startConsole();
  owner = await world.open();
  await owner.logIn(world.operator);
});
afterAll(() => world?.stop());

const dialog = () => owner.page.getByRole('dialog');
const submit = async (action: string) => {
  await dialog().getByRole('button', { name: action, exact: true }).click();
  await dialog().waitFor({ state: 'detached' });
};

it('rules are shown by source and destination, and a new one appears when a host has it', async () => {
  const { page, look } = owner;
  await world.client.ended(await world.client.createVm({ name: 'web' }));
  await page.getByRole('link', { name: 'Network' }).click();
  const rules = page.getByRole('table', { name: 'Firewall rules' });
  await rules.getByText('Allow tcp 22').waitFor();
  await page.getByRole('button', { name: 'Add rule' }).click();
  await dialog().getByLabel('Name').fill('no-telnet');
  await dialog().getByLabel('Action').selectOption('Deny');
  await dialog().getByLabel('From').fill('198.51.100.0/24');
  await dialog().getByLabel('Ports').fill('23');
  await submit('Add rule');
  const denial = rules.getByText('Deny tcp 23');
  await denial.waitFor();
  await rules.getByText('no-telnet, into VMs', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Create network' }).click();
  await dialog().getByLabel('Name').fill('backend');
  await dialog().getByLabel('Block of addresses').fill('10.8.0.0/16');
  await submit('Create');
  const backend = page.locator('section').filter({ hasText: 'backend · 10.8.0.0/16' });
  await backend.getByRole('button', { name: 'Add subnet' }).click();
  await dialog().getByLabel('Name').fill('racks');
  await dialog().getByLabel('Block of addresses').fill('10.8.1.0/24');
  await submit('Add subnet');
  await backend.getByText('10.8.1.0/24, eu-north-a').waitFor();
  await page.getByRole('button', { name: 'Rename racks' }).click();
  await dialog().getByLabel('New name').fill('shelves');
  await submit('Rename');
  await page.getByRole('button', { name: 'Rename backend' }).click();
  await dialog().getByLabel('New name').fill('storage');
  await submit('Rename');
  await page.getByText('storage · 10.8.0.0/16').waitFor();
  await look('network');
});

it('a trace draws the checks on the way and names the rule that decides', async () => {
  const { page, look } = owner;
  const trace = async (from: string, port: string) => {
    await page.getByLabel('From', { exact: true }).fill(from);
    await page.getByLabel('To', { exact: true }).fill('web');
    await page.getByLabel('Port', { exact: true }).fill(port);
    await page.getByRole('button', { name: 'Trace' }).click();
  };
  await trace('198.51.100.7', '23');
  const decision = page.getByText('Denied by no-telnet.');
  await decision.waitFor();
  await decision.scrollIntoViewIfNeeded();
  await look('trace');
  await trace('203.0.113.200', '22');
  await page.getByText('Allowed by default-allow-ssh.').waitFor();
  await page.getByRole('button', { name: 'Delete no-telnet' }).click();
  await submit('Delete');
  await page.getByText('Deny tcp 23').waitFor({ state: 'detached' });
  for (const name of ['shelves', 'storage']) {
    await page.getByRole('button', { name: `Delete ${name}` }).click();
    await submit('Delete');
    await page.getByRole('button', { name: `Delete ${name}` }).waitFor({ state: 'detached' });
  }
});

it('a public address is reserved, attached to a stopped VM, detached and released', async () => {
  const { page, look } = owner;
  const { id } = (await world.client.call('GET', '/vms')).body.items[0];
  await world.client.ended(await world.client.open('PATCH', `/vms/${id}`, { action: 'STOP' }));
  await page.getByRole('button', { name: 'Reserve address' }).click();
  await dialog().getByLabel('Name').fill('front');
  await dialog().getByLabel('Location').selectOption('eu-north-a');
  await submit('Reserve');
  const addresses = page.getByRole('list', { name: 'Reserved public addresses' });
  await addresses.getByText('attached to no VM').waitFor();
  await page.getByRole('button', { name: 'Attach front' }).click();
  await dialog().getByLabel('VM').selectOption('web');
  await submit('Attach');
  await addresses.getByText('attached to web').waitFor();
  await addresses.scrollIntoViewIfNeeded();
  await look('addresses');
  await page.getByRole('button', { name: 'Detach front' }).click();
  await submit('Detach');
  await page.getByRole('button', { name: 'Release front' }).click();
  await submit('Release');
  await page.getByText('None is reserved.').waitFor();
});

it('a disk is created, attached to a VM, grown, detached and deleted', async () => {
  const { page, look } = owner;
  await page.getByRole('link', { name: 'Disks' }).click();
  const row = page.getByRole('row').filter({ hasText: 'dataset' });
  const act = (action: string) =>
    row.getByRole('button', { name: `${action} dataset`, exact: true }).click();
  await page.getByRole('button', { name: 'Create disk' }).click();
  await dialog().getByLabel('Name').fill('dataset');
  await dialog().getByLabel('Size in GiB').fill('20');
  await dialog().getByLabel('Location').selectOption('eu-north-a');
  await submit('Create');
  await row.getByRole('cell', { name: 'no VM', exact: true }).waitFor();
  await act('Attach');
  await dialog().getByLabel('VM', { exact: true }).selectOption('web');
  await submit('Attach');
  await row.getByRole('cell', { name: 'web', exact: true }).waitFor();
  await act('Grow');
  await dialog().getByLabel('New size in GiB').fill('30');
  await submit('Grow');
  await row.getByText('30 GiB').waitFor();
  await look('disks');
  await act('Detach');
  await submit('Detach');
  await row.getByRole('cell', { name: 'no VM', exact: true }).waitFor();
  await act('Delete');
  await submit('Delete');
  await row.waitFor({ state: 'detached' });
});

it('the cost of closed days is drawn by type, and exported as a table', async () => {
  const { page, look } = owner;
  await page.getByRole('link', { name: 'Usage and cost' }).click();
  await page.getByText('There is no usage in this period').waitFor();
  await addUsage(world);
  await page.reload();
  await page.getByRole('img', { name: 'Cost per day' }).waitFor();
  const costs = page.getByRole('table', { name: 'Cost of the period' });
  expect(await costs.getByRole('row').first().textContent()).toMatch(/^a100\.8x\$/);
  await look('usage');
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export as CSV' }).click(),
  ]);
  const lines = readFileSync(await download.path(), 'utf8')
    .trim()
    .split('\r\n');
  expect(lines[0]).toContain('date,project,');
  expect(lines).toHaveLength(1 + 2 * 18);
});

it('keys and members are added and removed, and a secret is shown once', async () => {
  const { page, look } = owner;
  await page.getByRole('link', { name: 'Keys and members' }).click();
  await page.getByRole('button', { name: 'Add SSH key of the project' }).click();
  await dialog().getByLabel('Name').fill('laptop');
  await dialog().getByLabel('Public key').fill('not a key');
  await page.getByRole('button', { name: 'Add key' }).click();
  await page.getByRole('alert').getByText('public_key: must be').waitFor();
  await dialog().getByLabel('Public key').fill(KEY);
  await submit('Add key');
  await page.getByRole('list', { name: 'SSH keys of the project' }).getByText('laptop').waitFor();
  await page.getByRole('button', { name: 'Add SSH key of your own' }).click();
  await dialog().getByLabel('Name').fill('desk');
  await dialog().getByLabel('Public key').fill(KEY);
  await submit('Add key');
  await page.getByRole('list', { name: 'SSH keys of your own' }).getByText('desk').waitFor();
  await page.getByRole('button', { name: 'Create access key' }).click();
  await dialog().getByLabel('Name').fill('ci');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  const secret = page.getByRole('region', { name: 'access key' });
  expect(await secret.textContent()).toMatch(/^gantry_ak_/);
  await page.getByRole('button', { name: 'I have copied it' }).click();
  await page.getByRole('list', { name: 'Members' }).getByText(world.tenant.email).waitFor();
  await look('access');
  await page.getByRole('button', { name: 'Revoke ci' }).click();
  await submit('Revoke');
  await page
    .getByRole('list', { name: 'Access keys' })
    .getByText('ci', { exact: true })
    .waitFor({ state: 'detached' });
});

it('one login is ended among others, and its token is refused', async () => {
  const { page } = owner;
  const api = `${new URL(page.url()).origin}/v0.1`;
  const client = { 'content-type': 'application/json', 'user-agent': 'backup-script/1.0' };
  const body = JSON.stringify({ grant_type: 'password', ...world.operator });
  const granted = await fetch(`${api}/auth/token`, { method: 'POST', headers: client, body });
  const { access_token } = (await granted.json()) as { access_token: string };
  await page.reload();
  const logins = page.getByRole('list', { name: 'Your logins' }).getByRole('listitem');
  await logins.filter({ hasText: 'This browser' }).waitFor();
  const script = logins.filter({ hasText: 'backup-script/1.0' });
  await script.getByRole('button', { name: 'Log out' }).click();
  await submit('Log out');
  await script.waitFor({ state: 'detached' });
  const headers = { authorization: `Bearer ${access_token}` };
  expect((await fetch(api, { headers })).status).toBe(401);
});

it('a second factor is switched on with a code of the app, and all logins are ended', async () => {
  const { page } = owner;
  await page.getByRole('button', { name: 'Set up' }).click();
  await dialog().getByLabel('Your password').fill(world.operator.password);
  await submit('Continue');
  const secret = (await page.getByRole('region', { name: 'secret' }).textContent()) ?? '';
  await page.getByRole('button', { name: 'Enter the code' }).click();
  await dialog().getByLabel('Code of the app').fill(totpCode(secret, Date.now()));
  await dialog().getByRole('button', { name: 'Switch on' }).click();
  const codes = page.getByRole('region', { name: 'recovery codes' });
  expect((await codes.textContent())?.split('\n')).toHaveLength(10);
  await page.getByRole('button', { name: 'I have kept them' }).click();
  await page.getByText('10 recovery codes are left').waitFor();
  await page.getByRole('button', { name: 'Log out everywhere' }).click();
  await dialog().getByRole('button', { name: 'Log out' }).click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  expect(owner.errors.filter((error) => !error.includes('status of 400'))).toEqual([]);
});

/** Two types on 18 days of the past, as the scheduler would have closed them. */
async function addUsage({ processes, projectId }: TestConsole): Promise<void> {
  await processes.sql.begin(async (sql) => {
    const [{ organization_id } = {}] =
      await sql`select organization_id from projects where id = ${projectId}`;
    for (let ago = 2; ago < 20; ago += 1) {
      const date = new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
      await sql`insert into closed_days (date) values (${date})`;
      for (const [type, price] of [
        ['a100.8x', 16],
        ['a40.1x', 1.25],
      ] as const) {
        await sql`insert into usage_days ${sql({
          ...{
            date,
            organization_id,
            project_id: projectId,
            resource_type: type,
            region: 'eu-north',
          },
          ...{
            billable_metric: 'vm_seconds',
            quantity: 3600 * ago,
            cost_usd: price * ago,
            priced: true,
          },
        })}`;
      }
    }
  });
}

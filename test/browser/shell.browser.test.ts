import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addSecondFactor, totpCode } from './support/second-factor.ts';
import { startConsole, type TestConsole } from './support/start-console.ts';

let world: TestConsole;
beforeAll(async () => {
  world = await startConsole();
});
afterAll(() => world?.stop());

const FIRST_SCREEN_MAX_BYTES = 250_000;
const KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGnZ0P5QvE0y4tH0zvYt0rR0lKqM3p5D0m5lqDkZ5sYx ada@example';
/** How far things moved since the page was loaded, as browsers measure it. */
const LAYOUT_SHIFT = `new Promise((resolve) => {
  let moved = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) moved += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => resolve(moved)));
})`;
const LOST = 'Connection lost, trying again';

/**
 * Ends every login of the tenant, as an operator can, when the page first sends this kind of request. Earlier, a
 * request that the page makes by itself could ask for the login before the person clicks.
 */
const endLoginsAt = async (page: Page, method: string, path: RegExp) => {
  const users = (await world.client.admin('GET', '/users')).body.items;
  const { id } = users.find(({ email }: { email: string }) => email === world.tenant.email);
  let ended = false;
  await page.route(
    ({ pathname }) => path.test(pathname),
    async (route) => {
      if (!ended && route.request().method() === method) {
        ended = true;
        await world.client.admin('POST', `/users/${id}:log-out`);
      }
      await route.continue();
    },
  );
};

/** Holds requests of the page back until they are released. `arrived`: the page has sent the first one. */
const holdBack = async (page: Page, path: RegExp) => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  await page.route(
    ({ pathname }) => path.test(pathname),
    async (route) => {
      arrive();
      await released;
      await route.continue();
    },
  );
  return { arrived, release: () => release() };
};

/** The list has a field of a name too, so the form must be open before a test types into it. */
const openCreateForm = async (page: Page) => {
  await page.getByRole('link', { name: 'Create VM' }).first().click();
  await page.getByRole('heading', { name: 'Create a VM' }).waitFor();
};

const gzippedSize = async (url: string) => {
  const response = await fetch(url);
  expect(response.status, url).toBe(200);
  return gzipSync(await response.arrayBuffer()).length;
};

it('the first screen loads less than 250 kB, all of it from the API, and nothing on it moves', async () => {
  const { page, logIn, look, errors, close } = await world.open();
  const loaded = new Set<string>();
  page.on('response', (response) => loaded.add(response.url()));
  await page.reload();
  await look('login');
  await logIn(world.tenant);
  await page.getByRole('heading', { name: 'Virtual machines' }).waitFor();
  for (const url of loaded) expect(url).toContain(`${world.api.url}/`);
  // The browser forgets the body of a response when the page navigates, so the sizes come from requests of their own.
  const files = [...loaded].filter((url) => !url.includes('/v0.1'));
  const bytes = await Promise.all(files.map(gzippedSize));
  expect(bytes.length).toBeGreaterThan(2);
  expect(bytes.reduce((sum, each) => sum + each, 0)).toBeLessThan(FIRST_SCREEN_MAX_BYTES);
  expect(errors).toEqual([]);
  await page.reload();
  await page.getByText('This project has no VM yet').waitFor();
  expect(await page.evaluate(LAYOUT_SHIFT), 'layout shift').toBeLessThan(0.01);
  await close();
});

it('a wrong password shows the message of the server and its request id', async () => {
  const { page, close } = await world.open();
  await page.getByLabel('E-mail address').fill(world.tenant.email);
  await page.getByLabel('Password').fill('not the password');
  await page.keyboard.press('Enter');
  const alert = page.getByRole('alert');
  await alert.waitFor();
  expect(await alert.textContent()).toMatch(/Request [0-9a-f-]{36}/);
  await close();
});

it('a tenant sees no section of operators, and an operator does', async () => {
  const tenant = await world.open();
  await tenant.logIn(world.tenant);
  await tenant.page.getByRole('link', { name: 'Virtual machines' }).waitFor();
  expect(await tenant.page.getByRole('link', { name: 'Hosts' }).count()).toBe(0);
  await tenant.page.goto(`${world.api.url}/operator/hosts`);
  await tenant.page.getByText('This section is for operators').waitFor();
  await tenant.close();

  const operator = await world.open();
  await operator.logIn(world.operator);
  await operator.page.getByRole('link', { name: 'Hosts' }).click();
  await operator.page.getByRole('table', { name: 'Hosts' }).waitFor();
  await operator.look('hosts');
  expect(operator.errors).toEqual([]);
  await operator.close();
});

it('a link that is followed before the first project has opened is not given up for the project', async () => {
  const { page, logIn, close } = await world.open();
  const projects = await holdBack(page, /^\/v0.1\/projects$/);
  await logIn(world.operator);
  await page.getByRole('link', { name: 'Hosts' }).waitFor();
  const code = await holdBack(page, /\.js$/);
  await page.getByRole('link', { name: 'Hosts' }).click();
  await code.arrived;
  const listed = page.waitForResponse(
    (reply) => new URL(reply.url()).pathname === '/v0.1/projects',
  );
  projects.release();
  await (await listed).finished();
  code.release();
  await page.getByRole('table', { name: 'Hosts' }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/operator/hosts');
  await close();
});

it('the keyboard reaches the content and every link, and the theme stays after a reload', async () => {
  const { page, logIn, close } = await world.open();
  await logIn(world.tenant);
  await page.getByRole('heading', { name: 'Virtual machines' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Virtual machines' }).waitFor();
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('content');
  await page.getByText('Dark', { exact: true }).click();
  await page.reload();
  await page.getByRole('heading', { name: 'Virtual machines' }).waitFor();
  expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
  await close();
});

it('on a phone the navigation opens from a button and closes when a link was followed', async () => {
  const { page, logIn, close } = await world.open();
  await logIn(world.operator);
  await page.getByRole('heading', { name: 'Virtual machines' }).waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: 'Open the navigation' }).click();
  await page.getByRole('dialog').waitFor();
  await page.screenshot({ path: `${import.meta.dirname}/output/navigation-phone.png` });
  await page.getByRole('dialog').getByRole('link', { name: 'Hosts' }).click();
  await page.getByRole('heading', { name: 'Hosts' }).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await close();
});

it('an expired login is renewed over the page, and what the person had begun continues', async () => {
  const { page, logIn, look, close } = await world.open();
  await logIn(world.tenant);
  await openCreateForm(page);
  await page.getByLabel('Name').fill('after-login');
  await page.getByLabel('Public keys').fill(KEY);
  await endLoginsAt(page, 'POST', /\/vms$/);
  await page.getByRole('button', { name: 'Create VM' }).click();
  await page.getByRole('dialog', { name: 'Your login has expired' }).waitFor();
  await look('login-expired');
  await logIn(world.tenant);
  await page.getByRole('heading', { name: 'after-login' }).waitFor();
  await page.getByText('Running', { exact: true }).waitFor();
  expect((await world.client.call('GET', '/vms?names=after-login')).body.items).toHaveLength(1);
  // The same with a question open: the login lies over it.
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await endLoginsAt(page, 'PATCH', /\/vms\/[^/]+$/);
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('dialog', { name: 'Your login has expired' }).waitFor();
  await logIn(world.tenant);
  await page.getByText('Stopped', { exact: true }).waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await close();
});

it('what one person had begun is not sent for another who logs in over the page', async () => {
  const { page, logIn, close } = await world.open();
  await logIn(world.tenant);
  await openCreateForm(page);
  await page.getByLabel('Name').fill('of-the-other');
  await page.getByLabel('Public keys').fill(KEY);
  await endLoginsAt(page, 'POST', /\/vms$/);
  await page.getByRole('button', { name: 'Create VM' }).click();
  await page.getByRole('dialog', { name: 'Your login has expired' }).waitFor();
  await logIn(world.operator);
  await page.getByRole('heading', { name: 'Virtual machines' }).waitFor();
  await page.getByText(world.operator.email).waitFor();
  expect((await world.client.call('GET', '/vms?names=of-the-other')).body.items).toEqual([]);
  await close();
});

it('a login asks for the code of a second factor if the person has one', async () => {
  const person = { email: 'grace@example.com', password: 'a compiler sails at dawn 1952' };
  const secret = await addSecondFactor(world, person);
  const { page, close } = await world.open();
  await page.getByLabel('E-mail address').fill(person.email);
  await page.getByLabel('Password').fill(person.password);
  await page.getByRole('button', { name: 'Log in' }).click();
  // The present code has confirmed the factor, and a code works once. That of the next half minute is accepted too.
  await page.getByLabel('Code').fill(totpCode(secret, Date.now() + 30_000));
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('You have no project yet').waitFor();
  await close();
});

it('the page says that the API is away, and is current again when it is back', async () => {
  const { page, logIn, look, close } = await world.open();
  await logIn(world.tenant);
  await page.getByRole('heading', { name: 'Virtual machines' }).waitFor();
  const startAgain = await world.killApi();
  await page.getByText(LOST).waitFor();
  await look('connection-lost');
  await startAgain();
  await page.getByText(LOST).waitFor({ state: 'detached' });
  await world.client.ended(await world.client.createVm({ name: 'after-outage' }));
  const row = page.getByRole('row').filter({ hasText: 'after-outage' });
  await row.getByText('Running').waitFor();
  await close();
});

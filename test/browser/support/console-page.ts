import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';

/** A page, and what a person would see beside it: errors in the browser's console. */
export type ConsolePage = {
  page: Page;
  /** Errors that the browser reported. */
  errors: string[];
  logIn(login: { email: string; password: string }): Promise<void>;
  /**
   * Writes pictures of the screen in both themes, at desktop and phone width, and requires that axe finds
   * nothing serious in them.
   */
  look(name: string): Promise<void>;
  close(): Promise<void>;
};

const OUTPUT = path.resolve(import.meta.dirname, '../output');
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const LOOKS = [
  { name: 'desktop-light', size: DESKTOP, theme: 'light' },
  { name: 'desktop-dark', size: DESKTOP, theme: 'dark' },
  { name: 'phone-light', size: PHONE, theme: 'light' },
  { name: 'phone-dark', size: PHONE, theme: 'dark' },
] as const;
/** As long as a busy machine may need. */
const PATIENCE_MS = 30_000;

export async function openPage(browser: Browser, url: string): Promise<ConsolePage> {
  const context = await browser.newContext({ viewport: DESKTOP, reducedMotion: 'reduce' });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(url);
  return {
    ...{ page, errors },
    async logIn({ email, password }) {
      await page.getByLabel('E-mail address').fill(email);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('button', { name: 'Log in' }).waitFor({ state: 'detached' });
    },
    async look(name) {
      mkdirSync(OUTPUT, { recursive: true });
      for (const { name: look, size, theme } of LOOKS) {
        await page.setViewportSize(size);
        await page.emulateMedia({ colorScheme: theme });
        await page.screenshot({ path: path.join(OUTPUT, `${name}-${look}.png`) });
        expect(await findBarriers(page), `${name}, ${look}`).toEqual([]);
      }
      await page.setViewportSize(DESKTOP);
      await page.emulateMedia({ colorScheme: 'light' });
    },
    close: () => context.close(),
  };
}

/** What keeps people from using the page, one line each. The policy of the page does not allow a script tag. */
async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const { violations } = (await page.evaluate('axe.run()')) as AxeResults;
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) =>
      nodes.map(({ html, any }) => `${id}: ${html} ${any[0]?.message ?? ''}`),
    );
}

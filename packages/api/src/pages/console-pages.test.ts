import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Hono } from 'hono';
import { afterAll, expect, it } from 'vitest';
import { createPathRouter } from '../http/routing/path-router.ts';
import { mountConsolePages } from './console-pages.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'gantry-console-'));
mkdirSync(path.join(directory, 'assets'));
writeFileSync(path.join(directory, 'index.html'), '<!doctype html><title>Gantry</title>');
writeFileSync(path.join(directory, 'assets/main-abc.js'), 'export {};'.repeat(100));
writeFileSync(path.join(directory, 'build-stamp'), 'not public');
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const appOf = (files: string) => {
  const app = new Hono({ router: createPathRouter() });
  mountConsolePages(app, files);
  return app;
};
const app = appOf(directory);

it.each(['/', '/projects/1/vms', '/projects/1/vms/2', '/operator'])(
  'GET %s replies with the page, which is never stale and runs no inline script',
  async (url) => {
    const reply = await app.request(url);
    expect(reply.status).toBe(200);
    expect(await reply.text()).toContain('<title>Gantry</title>');
    expect(reply.headers.get('cache-control')).toBe('no-cache');
    expect(reply.headers.get('content-security-policy')).toMatch(/script-src 'self';/);
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
  },
);

it('an asset can be cached for ever and is compressed for clients that accept it', async () => {
  const plain = await app.request('/assets/main-abc.js');
  expect(plain.headers.get('cache-control')).toContain('immutable');
  expect(plain.headers.get('content-type')).toContain('text/javascript');
  const small = await app.request('/assets/main-abc.js', {
    headers: { 'accept-encoding': 'gzip, br' },
  });
  expect(small.headers.get('content-encoding')).toBe('gzip');
  const unpacked = gunzipSync(Buffer.from(await small.arrayBuffer())).toString();
  expect(unpacked).toBe(await plain.text());
});

it.each(['/assets/gone.js', '/build-stamp', '/account'])('GET %s is not found', async (url) => {
  expect((await app.request(url)).status).toBe(404);
});

it('a process without a built console explains what is missing', async () => {
  const reply = await appOf(path.join(directory, 'none')).request('/');
  expect(reply.status).toBe(200);
  expect(await reply.text()).toContain('npm run build');
});

import { expect, it } from 'vitest';
import { hasDotSegment } from './request-target.ts';

it.each([
  '/docs/../healthz',
  '/docs/%2e%2e/healthz',
  '/docs/%2E./healthz',
  '/docs/.%2e/healthz?x=1',
  '/docs/./start.js',
  '/docs/%2e',
  '/..',
  '/docs/..\\metrics',
  'http://api.test/docs/%2e%2e/healthz',
])('the path of %s has a dot segment', (target) => {
  expect(hasDotSegment(target)).toBe(true);
});

it.each([
  '/',
  '/v0.1',
  '/v0.1/vms?page_token=/../x',
  '/docs/swagger-ui.css',
  '/.well-known/x',
  '/a/...',
  '/a..b/c',
  '/v0.1/admin/hosts/x:drain',
])('the path of %s has none', (target) => {
  expect(hasDotSegment(target)).toBe(false);
});

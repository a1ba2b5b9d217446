import type { Hono } from 'hono';
import type { Deps } from '../deps.ts';

export function mountBillingPage(_app: Hono, _deps: Deps): void {}

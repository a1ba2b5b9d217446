import type { Hono } from 'hono';
import type { Deps } from '../deps.ts';
import { nosniff } from './nosniff.ts';

/** Serves liveness and readiness for load balancers and supervisors. */
export function mountHealth(app: Hono, deps: Deps): void {
  app.get('/healthz', nosniff, (c) => c.json({ status: 'ok' }));
  app.get('/readyz', nosniff, async (c) => {
    if (!deps.accepting()) return c.json({ status: 'draining' }, 503);
    const problem = deps.clock.clockProblem();
    if (problem !== null) return c.json({ status: problem }, 503);
    try {
      await deps.sql`select`;
      return c.json({ status: 'ready' });
    } catch (error) {
      deps.log.warn({ error }, 'database not reachable');
      return c.json({ status: 'database unavailable' }, 503);
    }
  });
}

import { parseTraceParent } from '@gantry/daemon/tracing/tracer';
import type { Context } from 'hono';
import type { Deps } from '../deps.ts';
import { headerOf } from './incoming.ts';
import type { AnyRoute } from './route.ts';

type Written = {
  route: AnyRoute;
  deps: Deps;
  c: Context;
  state: { operationId: string; requestId: string; now: Date };
  status: number;
};

/** Records a request in the trace of the operation that it opened, if it opened one. */
export function traceWrite({ route, deps, c, state, status }: Written): void {
  const { operationId } = state;
  const { method } = c.req;
  if (!deps.tracer || operationId === '') return;
  deps.tracer.record({
    ...{ operationId, isRequest: true, name: `${method} ${route.path}` },
    ...{ startMs: state.now.getTime(), endMs: deps.clock.nowMs() },
    attributes: {
      'http.request.method': method,
      'http.route': route.path,
      'http.response.status_code': status,
      'gantry.request_id': state.requestId,
    },
    // The trace of a client is another one, because it may cover many operations.
    link: parseTraceParent(headerOf(c, 'traceparent')),
  });
}

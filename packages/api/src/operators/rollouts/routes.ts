import { listRolloutHosts, listRollouts, readRollout } from '@gantry/db/queries/rollouts/rollouts';
import { found } from '@gantry/model/errors';
import { z } from '@hono/zod-openapi';
import { ListQuery, NewestSort, page, toIdListing } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { changeRollout, createRollout, type ROLLOUT_CHANGES } from './change.ts';
import {
  CreateRollout,
  Rollout,
  RolloutHostPage,
  RolloutHostQuery,
  RolloutPage,
  RolloutParams,
} from './schema.ts';
import { rolloutHostView, rolloutView } from './view.ts';

export const adminRolloutRoutes = [
  route({
    id: 'admin-rollouts.list',
    method: 'get',
    path: '/admin/rollouts',
    summary: 'List rollouts of agent versions, newest first',
    access: { level: 'operator', role: 'read-only' },
    query: z.strictObject({ ...ListQuery, sort: NewestSort }),
    reply: RolloutPage,
    handle: async ({ sql, query }) =>
      page(await listRollouts(sql, toIdListing(query)), query.limit, rolloutView),
  }),
  route({
    id: 'admin-rollouts.create',
    method: 'post',
    path: '/admin/rollouts',
    summary: 'Roll out a version of the agent to hosts, in waves. VMs are not touched',
    access: { level: 'operator', role: 'admin' },
    body: CreateRollout,
    reply: Rollout,
    handle: async ({ sql, caller, body, now }) =>
      rolloutView(await createRollout({ sql, caller, body, now })),
  }),
  route({
    id: 'admin-rollouts.get',
    method: 'get',
    path: '/admin/rollouts/{rollout_id}',
    summary: 'Read a rollout and how many hosts are in each state',
    access: { level: 'operator', role: 'read-only' },
    params: RolloutParams,
    reply: Rollout,
    handle: async ({ sql, params }) =>
      rolloutView(found(await readRollout(sql, params.rollout_id), 'rollout')),
  }),
  route({
    id: 'admin-rollouts.hosts',
    method: 'get',
    path: '/admin/rollouts/{rollout_id}/hosts',
    summary: 'List the hosts of a rollout with their states',
    access: { level: 'operator', role: 'read-only' },
    params: RolloutParams,
    query: RolloutHostQuery,
    reply: RolloutHostPage,
    handle: async ({ sql, params: { rollout_id: rolloutId }, query }) => {
      found(await readRollout(sql, rolloutId), 'rollout');
      const rows = await listRolloutHosts(sql, {
        ...{ rolloutId, state: query.state ?? null },
        ...{ after: query.page_token, limit: query.limit + 1 },
      });
      return page(rows, query.limit, rolloutHostView);
    },
  }),
  changeRoute('pause', 'Pause a rollout: hosts that have begun finish, and no other begins'),
  changeRoute('resume', 'Resume a paused rollout; the hosts that failed so far are forgiven'),
  changeRoute('cancel', 'End a rollout: hosts that have begun finish, the others are skipped'),
  changeRoute('roll-back', 'Return every host that was told to change to its earlier version'),
];

function changeRoute(verb: keyof typeof ROLLOUT_CHANGES, summary: string) {
  return route({
    id: `admin-rollouts.${verb}`,
    method: 'post',
    path: `/admin/rollouts/{rollout_id}:${verb}`,
    summary,
    access: { level: 'operator', role: 'admin' },
    params: RolloutParams,
    reply: Rollout,
    handle: async ({ sql, params }) =>
      rolloutView(await changeRollout(sql, { rolloutId: params.rollout_id, verb })),
  });
}

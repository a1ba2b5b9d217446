import { decideOrphan, listOrphans } from '@gantry/db/queries/hosts/orphans';
import { found } from '@gantry/model/errors';
import { page, toIdListing } from '../../http/fields.ts';
import { route } from '../../http/route.ts';
import { Orphan, OrphanPage, OrphanParams, OrphanQuery } from './schema.ts';
import { orphanView } from './view.ts';

export const adminOrphanRoutes = [
  route({
    id: 'admin-orphans.list',
    method: 'get',
    path: '/admin/orphans',
    summary: 'List VMs that hosts have and the database does not know, oldest first',
    access: { level: 'operator', role: 'read-only' },
    query: OrphanQuery,
    reply: OrphanPage,
    handle: async ({ sql, query }) => {
      const rows = await listOrphans(sql, {
        ...toIdListing(query),
        hostId: query.host_id ?? null,
      });
      return page(rows, query.limit, orphanView);
    },
  }),
  route({
    id: 'admin-orphans.get',
    method: 'get',
    path: '/admin/orphans/{orphan_id}',
    summary: 'Read a VM that a host has and the database does not know',
    access: { level: 'operator', role: 'read-only' },
    params: OrphanParams,
    reply: Orphan,
    handle: async ({ sql, params }) => {
      const only = { ids: [params.orphan_id], hostId: null, after: null, limit: 1 };
      return orphanView(found((await listOrphans(sql, only))[0], 'orphan'));
    },
  }),
  route({
    id: 'admin-orphans.give-back',
    method: 'post',
    path: '/admin/orphans/{orphan_id}:give-back',
    summary: 'Give a VM back to its project, where it runs',
    access: { level: 'operator', role: 'admin' },
    params: OrphanParams,
    reply: Orphan,
    handle: async ({ sql, params }) =>
      orphanView(
        found(await decideOrphan(sql, { id: params.orphan_id, decision: 'give_back' }), 'orphan'),
      ),
  }),
  route({
    id: 'admin-orphans.delete',
    method: 'delete',
    path: '/admin/orphans/{orphan_id}',
    summary: 'Stop a VM that the database does not know, and remove its OS disk',
    access: { level: 'operator', role: 'admin' },
    params: OrphanParams,
    reply: Orphan,
    handle: async ({ sql, params }) =>
      orphanView(
        found(await decideOrphan(sql, { id: params.orphan_id, decision: 'delete' }), 'orphan'),
      ),
  }),
];

import { route } from '../../http/route.ts';
import { explainPlacement } from './explain.ts';
import { ExplainPlacement, PlacementExplanation } from './schema.ts';
import { placementExplanationView } from './view.ts';

export const adminPlacementRoutes = [
  route({
    id: 'admin-placements.explain',
    method: 'post',
    path: '/admin/placements:explain',
    summary: 'Where a VM of a type would go now, or why nowhere; creates nothing',
    access: { level: 'operator' },
    body: ExplainPlacement,
    reply: PlacementExplanation,
    handle: async ({ sql, body: { type, location, host_id: hostId = null } }) =>
      placementExplanationView(await explainPlacement(sql, { type, location, hostId })),
  }),
];

import { route } from '../http/route.ts';
import { explainPlacement } from '../operations/explain-placement.ts';
import { ExplainPlacement, PlacementExplanation } from '../schemas/placement.ts';
import { placementExplanationView } from '../views/placement.ts';

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

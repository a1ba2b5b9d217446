import { route } from '../../http/route.ts';
import { explainPlacement } from './explain.ts';
import { ExplainPlacement, PlacementExplanation } from './schema.ts';
import { placementExplanationView } from './view.ts';

export const adminPlacementRoutes = [
  route({
    id: 'admin-placements.explain',
    method: 'post',
    path: '/admin/placements:explain',
    summary:
      'Explain where a new VM of a type would be placed now, or why no host fits; creates nothing',
    access: { level: 'operator', role: 'read-only' },
    body: ExplainPlacement,
    reply: PlacementExplanation,
    handle: async ({ sql, body: { type, location, host_id: hostId = null } }) =>
      placementExplanationView(await explainPlacement(sql, { type, location, hostId })),
  }),
];

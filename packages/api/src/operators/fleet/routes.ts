import { countFailedOperations } from '@gantry/db/queries/operators/all-operations';
import {
  countHostsByState,
  listCapacitySamples,
  readCapacity,
  readFleetGpus,
} from '@gantry/db/queries/operators/fleet-gpus';
import { route } from '../../http/route.ts';
import {
  CapacityHistory,
  CapacityHistoryQuery,
  Fleet,
  FleetQuery,
  FleetSummary,
} from './schema.ts';
import { capacitySampleView, fleetView } from './view.ts';

const OF_OPERATORS = { level: 'operator', role: 'read-only' } as const;
/** As many points as a chart can show. */
const HISTORY_POINTS = 300;

export const adminFleetRoutes = [
  route({
    id: 'admin-fleet.get',
    method: 'get',
    path: '/admin/fleet',
    summary: 'Read the state of all GPUs, in a short form without pages',
    access: OF_OPERATORS,
    query: FleetQuery,
    reply: Fleet,
    handle: async ({ sql, query }) =>
      fleetView(
        await readFleetGpus(sql, { location: query.location ?? null, hostIds: query.host_ids }),
      ),
  }),
  route({
    id: 'admin-fleet.summary',
    method: 'get',
    path: '/admin/fleet/summary',
    summary:
      'Count GPUs by location, model and state, hosts that need attention, failed operations',
    access: OF_OPERATORS,
    reply: FleetSummary,
    handle: async ({ sql }) => {
      const [gpus, hosts, failed] = await Promise.all([
        readCapacity(sql),
        countHostsByState(sql),
        countFailedOperations(sql),
      ]);
      return {
        gpus,
        hosts: hosts.hosts,
        hosts_lost: hosts.lost,
        hosts_cordoned: hosts.cordoned,
        hosts_drifted: hosts.drifted,
        hosts_troubled: hosts.troubled,
        failed_operations: failed,
      };
    },
  }),
  route({
    id: 'admin-fleet.history',
    method: 'get',
    path: '/admin/capacity-history',
    summary: 'List how many GPUs were free, sold, cleaned and blocked, oldest first',
    access: OF_OPERATORS,
    query: CapacityHistoryQuery,
    reply: CapacityHistory,
    handle: async ({ sql, query: { location = null, model = null, hours } }) => {
      const filter = { location, model, hours, points: HISTORY_POINTS };
      return { items: (await listCapacitySamples(sql, filter)).map(capacitySampleView) };
    },
  }),
];

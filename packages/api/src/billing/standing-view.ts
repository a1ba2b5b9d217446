import type { StandingRow } from '@gantry/db/queries/tenants/standing';
import type { z } from '@hono/zod-openapi';
import { PROBLEM_REASONS } from '../standing/problem-reasons.ts';
import type { Standing } from './standing-schema.ts';

export function standingView(organizationId: string, row: StandingRow): z.output<typeof Standing> {
  const suspended = row.suspended_at !== null;
  return {
    organization_id: organizationId,
    standing: suspended ? 'suspended' : row.problem ? 'payment_problem' : 'good',
    reason: row.reason ?? (row.problem ? PROBLEM_REASONS[row.problem] : ''),
    since: (row.suspended_at ?? row.problem_since)?.toISOString() ?? '',
    suspends_at: row.suspends_at?.toISOString() ?? '',
    stops_vms_at: row.stops_vms_at?.toISOString() ?? '',
  };
}

import type { RolloutHostRow, RolloutRow } from '@gantry/db/queries/rollouts/rollouts';
import { ROLLOUT_HOST_STATES } from '@gantry/model/rollouts';

export function rolloutView(row: RolloutRow) {
  return {
    id: row.id,
    version: row.version,
    labels: row.labels,
    canary_count: row.canary_count,
    batch_size: row.batch_size,
    host_time_limit_seconds: row.host_time_limit_s,
    max_failures: row.max_failures,
    state: row.state,
    state_reason: row.state_reason,
    wave: row.wave,
    last_wave: row.last_wave,
    hosts: Object.fromEntries(ROLLOUT_HOST_STATES.map((state) => [state, row.counts[state] ?? 0])),
    created_at: row.created_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? '',
  };
}

export function rolloutHostView(row: RolloutHostRow) {
  return {
    host_id: row.id,
    name: row.name,
    wave: row.wave,
    state: row.state,
    reason: row.reason,
    from_version: row.from_version,
    agent_version: row.agent_version,
    ordered_at: row.ordered_at?.toISOString() ?? '',
    ended_at: row.ended_at?.toISOString() ?? '',
  };
}

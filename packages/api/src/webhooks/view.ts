import type { DeliveryRow } from '@gantry/db/queries/webhooks/webhook-deliveries';
import type { WebhookRow } from '@gantry/db/queries/webhooks/webhooks';

export function webhookView(row: WebhookRow) {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    event_types: row.event_types,
    description: row.description,
    tags: row.tags,
    state: row.disabled_at === null ? ('enabled' as const) : ('disabled' as const),
    disabled_at: row.disabled_at?.toISOString() ?? '',
    disabled_reason: row.disabled_reason,
    old_secret_expires_at: row.old_secret_until?.toISOString() ?? '',
    created_at: row.created_at.toISOString(),
  };
}

export function deliveryView(row: DeliveryRow) {
  return {
    id: row.id,
    event_id: row.event_id,
    event_type: row.event_type,
    resource_id: row.resource_id,
    state: row.state,
    attempts: row.attempts,
    status_code: row.status_code,
    latency_ms: row.latency_ms,
    error: row.error,
    created_at: row.created_at.toISOString(),
    last_attempt_at: row.last_attempt_at?.toISOString() ?? '',
    next_attempt_at: row.next_attempt_at?.toISOString() ?? '',
  };
}

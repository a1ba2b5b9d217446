import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import {
  removeOldCertificates,
  removeOldConsoleTickets,
  removeOldIdempotencyKeys,
  removeOldInvitations,
  removeOldJoinTokens,
  removeOldLoginBudgets,
  removeOldLoginSources,
  removeOldNetworkChanges,
  removeOldPaymentEvents,
  removeOldRefreshTokens,
} from '@gantry/db/queries/maintenance/clean-up';
import {
  type Batch,
  type Removed,
  type Retention,
  removeOldAuditLogs,
  removeOldCapacitySamples,
  removeOldDeviceReadings,
  removeOldEvents,
  removeOldIntervals,
  removeOldOperations,
  removeOldReceipts,
  removeOldRollouts,
  removeOldStreamEvents,
  removeOldWebhookDeliveries,
  removeSentOutbox,
} from '@gantry/db/queries/maintenance/remove-history';

/** In days. The settings of the scheduler change them. */
export const DEFAULT_RETENTION: Retention = {
  operations: 30,
  events: 90,
  auditLogs: 400,
  receipts: 400,
  metering: 400,
  streamEvents: 1,
  webhookDeliveries: 7,
};

type Removal = (sql: Sql, batch: Batch & { retention: Retention }) => Promise<Removed>;

/** Every table that would grow with use, and what removes its old rows. */
export const REMOVALS: Record<string, Removal> = {
  idempotency_keys: expired(removeOldIdempotencyKeys),
  refresh_tokens: expired(removeOldRefreshTokens),
  console_tickets: expired(removeOldConsoleTickets),
  invitations: expired(removeOldInvitations),
  login_budgets: expired(removeOldLoginBudgets),
  login_sources: expired(removeOldLoginSources),
  payment_events: expired(removeOldPaymentEvents),
  network_changes: expired(removeOldNetworkChanges),
  join_tokens: expired(removeOldJoinTokens),
  host_certificates: expired(removeOldCertificates),
  operations: (sql, { retention, ...batch }) =>
    removeOldOperations(sql, { ...batch, days: retention.operations }),
  events: (sql, { retention, ...batch }) =>
    removeOldEvents(sql, { ...batch, days: retention.events }),
  stream_events: (sql, { retention, ...batch }) =>
    removeOldStreamEvents(sql, { ...batch, days: retention.streamEvents }),
  webhook_deliveries: (sql, { retention, ...batch }) =>
    removeOldWebhookDeliveries(sql, { ...batch, days: retention.webhookDeliveries }),
  capacity_samples: (sql, { retention, ...batch }) =>
    removeOldCapacitySamples(sql, { ...batch, days: retention.events }),
  device_readings: (sql, { retention, ...batch }) =>
    removeOldDeviceReadings(sql, { ...batch, days: retention.events }),
  audit_logs: (sql, { retention, ...batch }) =>
    removeOldAuditLogs(sql, { ...batch, days: retention.auditLogs }),
  rollouts: (sql, { retention, ...batch }) =>
    removeOldRollouts(sql, { ...batch, days: retention.auditLogs }),
  device_receipts: (sql, { retention, ...batch }) =>
    removeOldReceipts(sql, { ...batch, days: retention.receipts }),
  meter_intervals: (sql, { retention, ...batch }) =>
    removeOldIntervals(sql, { ...batch, days: retention.metering }),
  payment_outbox: (sql, { retention, ...batch }) =>
    removeSentOutbox(sql, { ...batch, days: retention.metering }),
};

const BATCH_ROWS = 2_000;
/** Limits one run, so that it ends well within the shutdown time. The next run continues. */
const MAX_BATCHES = 200;

type CleanUpOptions = {
  sql: Sql;
  log: Log;
  retention?: Retention;
  batchRows?: number;
  maxBatches?: number;
};

/** Removes expired rows in batches. Any number of processes can do this at the same time. */
export async function cleanUp({
  sql,
  log,
  retention = DEFAULT_RETENTION,
  batchRows = BATCH_ROWS,
  maxBatches = MAX_BATCHES,
}: CleanUpOptions): Promise<void> {
  for (const [table, remove] of Object.entries(REMOVALS)) {
    let total = 0;
    let after: string | null = null;
    for (let batch = 0; batch < maxBatches; batch += 1) {
      const { removed, next }: Removed = await remove(sql, { limit: batchRows, after, retention });
      total += removed;
      after = next;
      if (next === null) break;
    }
    if (total > 0) log.info({ table, removed: total }, 'old rows removed');
  }
}

/** For rows that have an end of their own, whatever the settings are. */
function expired(remove: (sql: Sql, limit: number) => Promise<number>): Removal {
  return async (sql, { limit }) => {
    const removed = await remove(sql, limit);
    return { removed, next: removed < limit ? null : '' };
  };
}

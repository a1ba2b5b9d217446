import type { Log } from '@gantry/daemon/log';
import type { Sql } from '@gantry/db/connect';
import {
  claimOutbox,
  countUncertain,
  type OutboxRow,
  releaseOutbox,
  updateOutboxFailed,
  updateOutboxSent,
  updateOutboxTried,
} from '@gantry/db/queries/usage/payment-outbox';
import Stripe from 'stripe';
import { isStripeCustomer } from './stripe-client.ts';

/**
 * Sends the outbox to Stripe, oldest row first.
 *
 * The usage of a day is an event of a billing meter. Its value is the cost in millionths of a US
 * dollar, because the prices are Gantry's. Stripe invoices the sum of a month. An adjustment is an
 * invoice item with a line of its own, because a meter cannot be negative over a month; it is on the
 * next invoice. Both count when they are sent, not on the day of the usage: Stripe ignores usage of
 * a period whose invoice is final.
 *
 * Every row is sent under its own id. If a process dies between Stripe's reply and the row's mark,
 * the row is sent again and Stripe recognises it. Stripe does so for a day. A row of which it is
 * unknown for longer whether Stripe has it is not sent again; the log says so until a person decides.
 */
type Sending = {
  sql: Sql;
  stripe: Stripe;
  log: Log;
  meterEventName: string;
  priceId: string | undefined;
};

const BATCH_ROWS = 50;
/** Longer than a batch takes if Stripe does not reply. */
const CLAIM_MS = 20 * 60_000;
/** Stripe remembers ids for at least 24 hours. */
const CERTAIN_MS = 23 * 3_600_000;

export async function sendStripeUsage(sending: Sending): Promise<void> {
  const { sql, log } = sending;
  for (;;) {
    const rows = await claimOutbox(sql, {
      ...{ limit: BATCH_ROWS, claimMs: CLAIM_MS, certainMs: CERTAIN_MS },
    });
    const sent = await sendRows(sending, rows);
    if (sent < BATCH_ROWS) break;
  }
  const uncertain = await countUncertain(sql, CERTAIN_MS);
  if (uncertain > 0)
    log.error({ rows: uncertain }, 'usage not sent: it is unknown whether Stripe has it already');
}

/** Returns how many rows were sent. If Stripe does not work, the rest would only fail too. */
async function sendRows(sending: Sending, rows: OutboxRow[]): Promise<number> {
  let sent = 0;
  for (const [index, row] of rows.entries()) {
    const outcome = await sendRow(sending, row);
    if (outcome === 'sent') sent += 1;
    if (outcome !== 'down') continue;
    await releaseOutbox(
      sending.sql,
      rows.slice(index + 1).map(({ id }) => id),
    );
    break;
  }
  return sent;
}

async function sendRow(sending: Sending, row: OutboxRow): Promise<'sent' | 'refused' | 'down'> {
  const { sql, log } = sending;
  await updateOutboxTried(sql, row.id);
  try {
    if (!isStripeCustomer(row.payment_customer_id))
      throw new Error('the organization is not a customer of Stripe any more');
    if (row.kind === 'usage') await sendUsage(sending, row);
    else await sendAdjustment(sending, row);
  } catch (error) {
    const certain = !isUncertain(error);
    const failure = error instanceof Error ? error.message : String(error);
    await updateOutboxFailed(sql, { id: row.id, failure, certain });
    log.warn({ outbox_id: row.id, error }, 'usage not sent to Stripe; will be repeated');
    return isDown(error) ? 'down' : 'refused';
  }
  await updateOutboxSent(sql, row.id);
  return 'sent';
}

async function sendUsage(sending: Sending, row: OutboxRow): Promise<void> {
  const { stripe, meterEventName } = sending;
  await ensureSubscription(sending, row);
  const identifier = `gantry-${row.id}`;
  try {
    await stripe.billing.meterEvents.create(
      {
        event_name: meterEventName,
        identifier,
        payload: {
          stripe_customer_id: row.payment_customer_id,
          value: microDollars(row.cost_usd),
          date: row.date,
          resource_type: row.resource_type,
          billable_metric: row.billable_metric,
        },
      },
      { idempotencyKey: identifier },
    );
  } catch (error) {
    if (!isDuplicate(error)) throw error;
  }
}

async function sendAdjustment({ stripe }: Sending, row: OutboxRow): Promise<void> {
  const unit = row.billable_metric === 'gb_hours' ? 'GB-hours' : 'seconds';
  await stripe.invoiceItems.create(
    {
      customer: row.payment_customer_id,
      currency: 'usd',
      unit_amount_decimal: Stripe.Decimal.from(centsOf(row.cost_usd)),
      description: `Adjustment of ${row.date}: ${row.quantity} ${unit} of ${row.resource_type}; ${row.reason}`,
      metadata: { gantry_id: row.id, date: row.date },
    },
    { idempotencyKey: `gantry-${row.id}` },
  );
}

/** Subscribes the customer to the meter's price, so that Stripe invoices it on the first of a month. */
async function ensureSubscription({ stripe, priceId }: Sending, row: OutboxRow): Promise<void> {
  if (priceId === undefined) return;
  const customer = row.payment_customer_id;
  const { data } = await stripe.subscriptions.list({ customer, price: priceId, limit: 1 });
  if (data.length > 0) return;
  await stripe.subscriptions.create(
    {
      customer,
      items: [{ price: priceId }],
      billing_cycle_anchor_config: { day_of_month: 1 },
      metadata: { organization_id: row.organization_id },
    },
    { idempotencyKey: `gantry-subscription-${customer}-${row.date}` },
  );
}

/** Decimal text of dollars with eight decimals → a whole number of millionths. */
function microDollars(usd: string): string {
  const hundredMillionths = BigInt(usd.replace('.', ''));
  return String((hundredMillionths + 50n) / 100n);
}

/** Decimal text of dollars with eight decimals → decimal text of cents with six decimals. */
function centsOf(usd: string): string {
  const digits = usd.replace(/[.-]/g, '').padStart(9, '0');
  const cents = `${digits.slice(0, -6)}.${digits.slice(-6)}`;
  return usd.startsWith('-') ? `-${cents}` : cents;
}

/** The failure has nothing to do with the row. */
function isDown(error: unknown): boolean {
  const { StripeConnectionError, StripeError } = Stripe.errors;
  if (error instanceof StripeConnectionError) return true;
  return (
    error instanceof StripeError && ((error.statusCode ?? 500) >= 500 || error.statusCode === 429)
  );
}

/** Stripe may have accepted the request: it failed while it worked on it, or its reply was lost. */
function isUncertain(error: unknown): boolean {
  if (error instanceof Stripe.errors.StripeConnectionError) return !isRefusedConnection(error);
  return error instanceof Stripe.errors.StripeError && (error.statusCode ?? 500) >= 500;
}

const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

function isRefusedConnection({ detail }: Stripe.errors.StripeError): boolean {
  const code = detail instanceof Error && 'code' in detail ? String(detail.code) : '';
  return NOT_CONNECTED.includes(code);
}

/** Stripe has an event with this identifier. */
function isDuplicate(error: unknown): boolean {
  return (
    error instanceof Stripe.errors.StripeInvalidRequestError &&
    error.code === 'duplicate_meter_event'
  );
}

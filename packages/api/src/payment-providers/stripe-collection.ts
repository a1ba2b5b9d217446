import type { Sql } from '@gantry/db/connect';
import {
  findOrganizationOfCustomer,
  insertPaymentEvent,
  isPaymentEventKnown,
  readBilledOrganization,
  removePaymentMethod,
} from '@gantry/db/queries/tenants/billing';
import { insertPaymentMethod } from '@gantry/db/queries/tenants/tenants';
import { transact } from '@gantry/db/transact';
import { badRequest } from '@gantry/model/errors';
import Stripe from 'stripe';
import { recordPaymentProblem, solvePaymentProblem } from '../standing/change.ts';
import type { Collection, Webhook } from './provider.ts';
import { sendStripeUsage } from './send-stripe-usage.ts';
import { callStripe, firstMethod, isStripeCustomer, unpaidInvoice } from './stripe-client.ts';

/**
 * Collects payments with Stripe.
 *
 * A webhook of Stripe says only that something about a customer has changed. What is true now is
 * asked of Stripe, so that it does not matter in which order events arrive, how often, or how late.
 * An event is recorded as handled after its effect, so an event whose handling fails is not lost:
 * Stripe sends it again, for up to three days. Before an organization is suspended, Stripe is asked
 * once more (`refresh`), so that a lost event cannot suspend an organization that has paid.
 */
export type StripeCollectionSettings = {
  webhookSecret: string | undefined;
  /** The price of the meter; customers are subscribed to it. */
  priceId: string | undefined;
  /** The name of the events of the meter, whose unit is a millionth of a US dollar. */
  meterEventName: string;
  paymentGraceMs: number;
};

type CollectionOptions = StripeCollectionSettings & {
  sql: Sql;
  stripe: Stripe;
  onPayment: () => void;
};

/** Events that were signed longer ago are refused, so that a recorded event cannot be replayed later. */
const TOLERANCE_S = 300;

export function createStripeCollection(options: CollectionOptions): Collection {
  const { sql, webhookSecret } = options;
  return {
    sendUsage: (log) => sendStripeUsage({ ...options, log }),
    async refresh(organizationId) {
      const organization = await readBilledOrganization(sql, organizationId);
      const customerId = organization?.payment_customer_id ?? '';
      if (isStripeCustomer(customerId)) await refreshCustomer(options, customerId);
    },
    ...(webhookSecret !== undefined && { webhook: createWebhook(options, webhookSecret) }),
  };
}

function createWebhook(options: CollectionOptions, secret: string): Webhook {
  const { sql, stripe } = options;
  return {
    async accept({ body, signature }) {
      const event = verify({ stripe, body, signature, secret });
      if (await isPaymentEventKnown(sql, event.id)) return;
      const customerId = customerOf(event);
      if (customerId !== undefined) await refreshCustomer(options, customerId);
      await insertPaymentEvent(sql, event);
    },
  };
}

type Signed = { stripe: Stripe; body: string; signature: string | undefined; secret: string };

function verify({ stripe, body, signature, secret }: Signed): Stripe.Event {
  try {
    return stripe.webhooks.constructEvent(body, signature ?? '', secret, TOLERANCE_S);
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError) && !(error instanceof SyntaxError))
      throw error;
    const reason = `must be a signature of this body, not older than ${TOLERANCE_S} seconds`;
    throw badRequest([{ field: 'Stripe-Signature', reason }]);
  }
}

/** Returns the customer that the event is about; undefined if it is about something else. */
function customerOf(event: Stripe.Event): string | undefined {
  switch (event.type) {
    case 'invoice.payment_failed':
    case 'invoice.paid':
    case 'invoice.voided':
    case 'invoice.marked_uncollectible':
      return idOf(event.data.object.customer);
    case 'customer.updated':
      return event.data.object.id;
    case 'payment_method.attached':
      return idOf(event.data.object.customer);
    case 'payment_method.detached':
      // The method belongs to no customer any more.
      return idOf(event.data.previous_attributes?.customer);
    default:
      return undefined;
  }
}

function idOf(reference: string | { id: string } | null | undefined): string | undefined {
  return typeof reference === 'string' ? reference : reference?.id;
}

/** Records what Stripe knows about the customer now: its payment method and unpaid invoices. */
async function refreshCustomer(options: CollectionOptions, customerId: string): Promise<void> {
  const { sql, stripe, paymentGraceMs: graceMs } = options;
  const organizationId = await findOrganizationOfCustomer(sql, customerId);
  if (organizationId === undefined) return;
  const [method, invoice] = await callStripe(() =>
    Promise.all([firstMethod(stripe, customerId), unpaidInvoice(stripe, customerId)]),
  );
  await transact(sql, async (tx) => {
    if (method) {
      const details = { customer: customerId, payment_method: method.id, type: method.type };
      await insertPaymentMethod(tx, { organizationId, provider: 'stripe', details });
      await solvePaymentProblem(tx, { organizationId, kind: 'no_payment_method' });
    } else if (await removePaymentMethod(tx, organizationId)) {
      const problem = {
        organizationId,
        kind: 'no_payment_method',
        invoiceId: '',
        graceMs,
      } as const;
      await recordPaymentProblem(tx, problem);
    }
    const failed = { organizationId, kind: 'payment_failed' } as const;
    if (!invoice) await solvePaymentProblem(tx, failed);
    else await recordPaymentProblem(tx, { ...failed, invoiceId: invoice.id ?? '', graceMs });
  });
  options.onPayment();
}

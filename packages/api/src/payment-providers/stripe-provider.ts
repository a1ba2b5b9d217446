import { sha256 } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import { readBilledOrganization, recordPaymentCustomer } from '@gantry/db/queries/tenants/billing';
import { insertPaymentMethod } from '@gantry/db/queries/tenants/tenants';
import { CloudError, notFound } from '@gantry/model/errors';
import type Stripe from 'stripe';
import { createTtlCache } from '../auth/ttl-cache.ts';
import { solvePaymentProblem } from '../standing/change.ts';
import type { BillingProvider } from './provider.ts';
import {
  callStripe,
  connectStripe,
  firstMethod,
  isMissingCustomer,
  isStripeCustomer,
  type StripeConnection,
} from './stripe-client.ts';
import { createStripeCollection, type StripeCollectionSettings } from './stripe-collection.ts';

/**
 * Stripe stores the payment methods, serves the dashboard, and sends and collects the invoices. An
 * organization is a Stripe customer, and a billing link is a session of Stripe's customer portal.
 * Gantry only learns that a payment method exists, and whether invoices are paid.
 */
type StripeProviderOptions = StripeConnection &
  StripeCollectionSettings & {
    sql: Sql;
    baseUrl: () => string;
    /** Called when an organization gets or loses its payment method. */
    onPayment: () => void;
  };

/** The shortest time between two calls to Stripe for an organization without a payment method. */
const CONFIRM_EVERY_MS = 5_000;
const MAX_REMEMBERED = 10_000;

export function createStripeProvider(options: StripeProviderOptions): BillingProvider {
  const { sql, baseUrl, onPayment } = options;
  const stripe = connectStripe(options);
  /** Failures are cached too, so that an outage of Stripe does not cause more calls. */
  const results = createTtlCache<boolean | CloudError>({
    ttlMs: CONFIRM_EVERY_MS,
    maxEntries: MAX_REMEMBERED,
    keep: () => true,
  });

  const findPayment = async (organizationId: string): Promise<boolean> => {
    const organization = await readBilledOrganization(sql, organizationId);
    const customerId = organization?.payment_customer_id ?? '';
    const method = isStripeCustomer(customerId) && (await firstMethod(stripe, customerId));
    if (!method) return false;
    const details = { customer: customerId, payment_method: method.id, type: method.type };
    await sql.begin(async (tx) => {
      await insertPaymentMethod(tx, { organizationId, provider: 'stripe', details });
      await solvePaymentProblem(tx, { organizationId, kind: 'no_payment_method' });
    });
    onPayment();
    return true;
  };

  const openPortal = async (customer: string) =>
    (await stripe.billingPortal.sessions.create({ customer, return_url: baseUrl() })).url;

  return {
    async createSession(organizationId) {
      const organization = await readBilledOrganization(sql, organizationId);
      if (!organization) throw notFound('organization');
      const { name, payment_customer_id: known } = organization;
      const make = () => makeCustomer({ sql, stripe, organizationId, name, previous: known });
      return await callStripe(async () => {
        if (!isStripeCustomer(known)) return await openPortal(await make());
        try {
          return await openPortal(known);
        } catch (error) {
          if (!isMissingCustomer(error)) throw error;
          return await openPortal(await make());
        }
      });
    },
    async confirmPayment(organizationId) {
      const result = await results.get(organizationId, () =>
        callStripe(() => findPayment(organizationId)).catch(asUnavailable),
      );
      if (result instanceof CloudError) throw result;
      return result;
    },
    customerIdFor: () => '',
    collection: createStripeCollection({ ...options, stripe }),
  };
}

type NewCustomer = {
  sql: Sql;
  stripe: Stripe;
  organizationId: string;
  name: string;
  /** The customer id that the new one replaces. */
  previous: string;
};

/**
 * Concurrent calls send the same idempotency key, so Stripe creates one customer. The key covers
 * every value in the request. Otherwise, after an interrupted call and a change of the name, Stripe
 * would refuse the key for a day because the request differs.
 */
async function makeCustomer(options: NewCustomer): Promise<string> {
  const { sql, stripe, organizationId, name, previous } = options;
  const customer = await stripe.customers.create(
    { name, metadata: { organization_id: organizationId } },
    { idempotencyKey: `gantry-customer-${organizationId}-${sha256(`${previous} ${name}`)}` },
  );
  const recorded = await recordPaymentCustomer(sql, {
    organizationId,
    previous,
    customerId: customer.id,
  });
  return recorded ?? customer.id;
}

function asUnavailable(error: unknown): CloudError {
  if (error instanceof CloudError) return error;
  throw error;
}

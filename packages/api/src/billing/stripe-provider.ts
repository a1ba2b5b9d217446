import { sha256 } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import { readBilledOrganization, recordPaymentCustomer } from '@gantry/db/queries/billing';
import { insertPaymentMethod } from '@gantry/db/queries/tenants';
import { CloudError, notFound } from '@gantry/model/errors';
import Stripe from 'stripe';
import { createTtlCache } from '../auth/ttl-cache.ts';
import type { BillingProvider } from './provider.ts';

/**
 * Cards and dashboard are Stripe's: an organization is a customer there, our link is a session of
 * Stripe's customer portal, and we only ever learn that a payment method exists.
 */
type StripeProviderOptions = {
  sql: Sql;
  secretKey: string;
  apiUrl: string | undefined;
  baseUrl: () => string;
  onPayment: () => void;
};

/** How often an organization without a payment method makes us ask Stripe. */
const CONFIRM_EVERY_MS = 5_000;
const MAX_REMEMBERED = 10_000;
/** A client waits for this, up to three times: Stripe answers within a second when it answers. */
const TIMEOUT_MS = 5_000;

export function createStripeProvider(options: StripeProviderOptions): BillingProvider {
  const { sql, baseUrl, onPayment } = options;
  const stripe = connectStripe(options);
  /** A failure is an answer too: a Stripe that is down is not asked more often than one that is up. */
  const answers = createTtlCache<boolean | CloudError>({
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
    await insertPaymentMethod(sql, { organizationId, provider: 'stripe', details });
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
      return await asking(async () => {
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
      const answer = await answers.get(organizationId, () =>
        asking(() => findPayment(organizationId)).catch(asUnavailable),
      );
      if (answer instanceof CloudError) throw answer;
      return answer;
    },
    customerIdFor: () => '',
  };
}

type NewCustomer = {
  sql: Sql;
  stripe: Stripe;
  organizationId: string;
  name: string;
  /** The id it takes the place of. */
  previous: string;
};

/**
 * Two calls at once send the same idempotency key, so Stripe makes one customer. Everything the
 * request depends on is in the key: the same key with another name, after a call that was cut off
 * and a renaming, would be refused for a day.
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

async function firstMethod(stripe: Stripe, customerId: string) {
  try {
    return (await stripe.customers.listPaymentMethods(customerId, { limit: 1 })).data[0];
  } catch (error) {
    if (isMissingCustomer(error)) return undefined;
    throw error;
  }
}

/** An installation that sent invoices before has ids of our own making. */
function isStripeCustomer(customerId: string): boolean {
  return customerId.startsWith('cus_');
}

/** Deleted at Stripe, or made with the keys of another account or of the test mode. */
function isMissingCustomer(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeError && error.code === 'resource_missing';
}

function connectStripe({ secretKey, apiUrl }: StripeProviderOptions): Stripe {
  const url = apiUrl === undefined ? undefined : new URL(apiUrl);
  const protocol = url?.protocol === 'http:' ? 'http' : 'https';
  return new Stripe(secretKey, {
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 2,
    telemetry: false,
    ...(url && {
      host: url.hostname,
      port: url.port || (protocol === 'http' ? 80 : 443),
      protocol,
    }),
  });
}

async function asking<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask();
  } catch (cause) {
    if (!(cause instanceof Stripe.errors.StripeError)) throw cause;
    throw new CloudError('unavailable', 'the payment provider does not answer: try again shortly', {
      cause,
    });
  }
}

function asUnavailable(error: unknown): CloudError {
  if (error instanceof CloudError) return error;
  throw error;
}

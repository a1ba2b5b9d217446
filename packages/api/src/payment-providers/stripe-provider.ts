import { sha256 } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import { readBilledOrganization, recordPaymentCustomer } from '@gantry/db/queries/tenants/billing';
import { insertPaymentMethod } from '@gantry/db/queries/tenants/tenants';
import { CloudError, notFound } from '@gantry/model/errors';
import Stripe from 'stripe';
import { createTtlCache } from '../auth/ttl-cache.ts';
import type { BillingProvider } from './provider.ts';

/**
 * Stripe stores the payment methods and serves the dashboard. An organization is a Stripe customer,
 * and a billing link is a session of Stripe's customer portal. Gantry only learns that a payment
 * method exists.
 */
type StripeProviderOptions = {
  sql: Sql;
  secretKey: string;
  apiUrl: string | undefined;
  baseUrl: () => string;
  onPayment: () => void;
};

/** The shortest time between two calls to Stripe for an organization without a payment method. */
const CONFIRM_EVERY_MS = 5_000;
const MAX_REMEMBERED = 10_000;
/** A client waits for up to three attempts. Stripe usually replies within a second. */
const TIMEOUT_MS = 5_000;

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

async function firstMethod(stripe: Stripe, customerId: string) {
  try {
    return (await stripe.customers.listPaymentMethods(customerId, { limit: 1 })).data[0];
  } catch (error) {
    if (isMissingCustomer(error)) return undefined;
    throw error;
  }
}

/** Returns false for the ids that the local provider made before the installation used Stripe. */
function isStripeCustomer(customerId: string): boolean {
  return customerId.startsWith('cus_');
}

/** The customer was deleted at Stripe, or belongs to another account or to the test mode. */
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

async function callStripe<Result>(call: () => Promise<Result>): Promise<Result> {
  try {
    return await call();
  } catch (cause) {
    if (!(cause instanceof Stripe.errors.StripeError)) throw cause;
    throw new CloudError(
      'unavailable',
      'the payment provider is not reachable: try again shortly',
      {
        cause,
      },
    );
  }
}

function asUnavailable(error: unknown): CloudError {
  if (error instanceof CloudError) return error;
  throw error;
}

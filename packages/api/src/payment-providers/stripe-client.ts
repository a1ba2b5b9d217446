import { CloudError } from '@gantry/model/errors';
import Stripe from 'stripe';

/** How Gantry calls Stripe, and what the errors of Stripe mean. */

export type StripeConnection = { secretKey: string; apiUrl: string | undefined };

/** A client waits for up to three attempts. Stripe usually replies within a second. */
const TIMEOUT_MS = 5_000;

/** Returns false for the ids that the local provider made before the installation used Stripe. */
export function isStripeCustomer(customerId: string): boolean {
  return customerId.startsWith('cus_');
}

/** The customer was deleted at Stripe, or belongs to another account or to the test mode. */
export function isMissingCustomer(error: unknown): boolean {
  return error instanceof Stripe.errors.StripeError && error.code === 'resource_missing';
}

export function connectStripe({ secretKey, apiUrl }: StripeConnection): Stripe {
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

export async function callStripe<Result>(call: () => Promise<Result>): Promise<Result> {
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

/** Returns a payment method of the customer; undefined if there is none, or no such customer. */
export async function firstMethod(stripe: Stripe, customerId: string) {
  const methods = () => stripe.customers.listPaymentMethods(customerId, { limit: 1 });
  return (await ifCustomerExists(methods))?.data[0];
}

/** Returns an invoice of the customer whose payment was attempted without success. */
export async function unpaidInvoice(stripe: Stripe, customerId: string) {
  const open = () => stripe.invoices.list({ customer: customerId, status: 'open', limit: 100 });
  return (await ifCustomerExists(open))?.data.find(({ attempt_count }) => attempt_count > 0);
}

async function ifCustomerExists<Result>(call: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await call();
  } catch (error) {
    if (isMissingCustomer(error)) return undefined;
    throw error;
  }
}

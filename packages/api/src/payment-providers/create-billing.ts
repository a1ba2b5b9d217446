import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import type { ApiSettings } from '../settings.ts';
import { createLocalProvider } from './local-provider.ts';
import type { BillingProvider } from './provider.ts';
import { createStripeProvider } from './stripe-provider.ts';

export type BillingOptions = {
  sql: Sql;
  secrets: Secrets;
  settings: Pick<ApiSettings, 'stripe' | 'paymentGraceMs'>;
  baseUrl: () => string;
  /** Called when an organization gets a payment method, so that caches drop the old result. */
  onPayment: () => void;
};

/** Uses Stripe if the installation has a key for it, and invoices otherwise. */
export function createBilling({ settings, ...options }: BillingOptions): BillingProvider {
  const { stripe, paymentGraceMs } = settings;
  const { secretKey } = stripe;
  if (secretKey === undefined) return createLocalProvider(options);
  return createStripeProvider({ ...options, ...stripe, secretKey, paymentGraceMs });
}

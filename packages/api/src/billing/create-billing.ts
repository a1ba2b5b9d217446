import type { Sql } from '@gantry/db/connect';
import type { Secrets } from '../auth/secrets.ts';
import type { ApiConfig } from '../config.ts';
import type { BillingProvider } from './provider.ts';

export type BillingOptions = {
  sql: Sql;
  secrets: Secrets;
  config: Pick<ApiConfig, 'stripe'>;
  baseUrl: () => string;
  /** Called when an organization was found to have paid: whoever remembers otherwise forgets. */
  onPayment: () => void;
};

export function createBilling({ secrets, baseUrl }: BillingOptions): BillingProvider {
  return {
    createSession: async (id) => `${baseUrl()}/billing/${secrets.sign('billing', id)}`,
    confirmPayment: async () => false,
    customerIdFor: (id) => `local_${id}`,
  };
}

import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import { type AuditLine, insertAuditLines } from '@gantry/db/queries/records';
import { insertPaymentMethod } from '@gantry/db/queries/tenants';
import { newId } from '@gantry/model/ids';
import { readBillingToken, signBillingToken } from './billing-link.ts';
import type { BillingProvider, InvoiceEntry } from './provider.ts';

type LocalProviderOptions = {
  sql: Sql;
  secrets: Secrets;
  baseUrl: () => string;
  onPayment: () => void;
};

/** For installations without a payment provider: they send invoices, and we ask where to. */
export function createLocalProvider(options: LocalProviderOptions): BillingProvider {
  const { sql, secrets, baseUrl, onPayment } = options;
  return {
    async createSession(organizationId) {
      const token = signBillingToken(secrets, { organizationId, now: new Date() });
      return `${baseUrl()}/billing/${token}`;
    },
    // The page writes to the database itself: there is nobody else to ask.
    confirmPayment: async () => false,
    customerIdFor: (organizationId) => `local_${organizationId}`,
    invoices: {
      organizationOf: (token) => readBillingToken(secrets, { token, now: new Date() }),
      async accept(entry) {
        const { organizationId, address } = entry;
        await sql.begin(async (tx) => {
          await insertPaymentMethod(tx, { organizationId, provider: 'local', details: address });
          await insertAuditLines(tx, [auditLineOf(entry)]);
        });
        onPayment();
      },
    },
  };
}

/** The link is all that is known of who filled in the form. */
function auditLineOf({
  organizationId,
  address,
  now,
  sourceIp,
  requestId,
}: InvoiceEntry): AuditLine {
  return {
    auditId: newId(now.getTime()),
    at: now,
    organizationId,
    projectId: null,
    actorType: 'anonymous',
    actorId: null,
    actor: address.email,
    action: 'billing.enter',
    resourceType: 'billing',
    resourceId: organizationId,
    sourceIp,
    requestId,
    status: 200,
  };
}

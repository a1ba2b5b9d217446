import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import { type AuditLine, insertAuditLines } from '@gantry/db/queries/operations/records';
import { insertPaymentMethod } from '@gantry/db/queries/tenants/tenants';
import { newId } from '@gantry/model/ids';
import { readBillingToken, signBillingToken } from './billing-link.ts';
import type { BillingProvider, InvoiceEntry } from './provider.ts';

type LocalProviderOptions = {
  sql: Sql;
  secrets: Secrets;
  baseUrl: () => string;
  onPayment: () => void;
};

/** The provider of installations that send invoices themselves: it asks for the invoice address. */
export function createLocalProvider(options: LocalProviderOptions): BillingProvider {
  const { sql, secrets, baseUrl, onPayment } = options;
  return {
    async createSession(organizationId) {
      const token = signBillingToken(secrets, { organizationId, now: new Date() });
      return `${baseUrl()}/billing/${token}`;
    },
    // The page writes payment methods to the database, so there is nothing more to find out.
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

/** The form has no login: the e-mail address is all that is known about the person. */
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

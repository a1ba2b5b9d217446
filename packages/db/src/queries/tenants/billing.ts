import type { Queryable } from '../../connect.ts';

export type BilledOrganization = { name: string; payment_customer_id: string };

export async function readBilledOrganization(
  sql: Queryable,
  organizationId: string,
): Promise<BilledOrganization | undefined> {
  const [row] = await sql<BilledOrganization[]>`
    select name, payment_customer_id from organizations where id = ${organizationId}`;
  return row;
}

/** Sets the customer if it is still `previous`. Returns the customer afterwards. */
export async function recordPaymentCustomer(
  sql: Queryable,
  change: { organizationId: string; previous: string; customerId: string },
): Promise<string | undefined> {
  await sql`update organizations set payment_customer_id = ${change.customerId}
    where id = ${change.organizationId} and payment_customer_id = ${change.previous}`;
  return (await readBilledOrganization(sql, change.organizationId))?.payment_customer_id;
}

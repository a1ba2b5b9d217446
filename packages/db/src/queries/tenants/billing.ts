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

/** Returns the organization of a customer of the payment provider. */
export async function findOrganizationOfCustomer(
  sql: Queryable,
  customerId: string,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id from organizations where payment_customer_id = ${customerId} order by id limit 1`;
  return row?.id;
}

/** Returns whether there was one. From then on the organization may only use billing. */
export async function removePaymentMethod(
  sql: Queryable,
  organizationId: string,
): Promise<boolean> {
  const { count } =
    await sql`delete from payment_methods where organization_id = ${organizationId}`;
  return count > 0;
}

/** Returns false if the event was handled before. */
export async function insertPaymentEvent(
  sql: Queryable,
  event: { id: string; type: string },
): Promise<boolean> {
  const { count } = await sql`
    insert into payment_events (id, type) values (${event.id}, ${event.type}) on conflict do nothing`;
  return count > 0;
}

export async function isPaymentEventKnown(sql: Queryable, id: string): Promise<boolean> {
  const rows = await sql`select from payment_events where id = ${id}`;
  return rows.length > 0;
}

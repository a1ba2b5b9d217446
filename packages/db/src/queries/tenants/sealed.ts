import type { Queryable } from '../../connect.ts';

/** The purposes under which values are sealed that outlive a rotation of the secret key. */
export const SIGNING_KEY_PURPOSE = 'signing-key';
export const TOTP_PURPOSE = 'totp-secret';
export const WEBHOOK_SECRET_PURPOSE = 'webhook-secret';

/** Values that are sealed with the secret key, for its rotation. */
export type SealedRow = { id: string; sealed: string };
export type SealedChange = { id: string; from: string; to: string };

export async function listSealedSigningKeys(sql: Queryable): Promise<SealedRow[]> {
  return await sql<
    SealedRow[]
  >`select id, sealed_private_key as sealed from signing_keys order by id`;
}

export async function updateSealedSigningKey(
  sql: Queryable,
  { id, from, to }: SealedChange,
): Promise<void> {
  await sql`update signing_keys set sealed_private_key = ${to}
    where id = ${id} and sealed_private_key = ${from}`;
}

export async function listSealedTotps(sql: Queryable): Promise<SealedRow[]> {
  return await sql<
    SealedRow[]
  >`select user_id as id, sealed_secret as sealed from user_totps order by 1`;
}

export async function updateSealedTotp(
  sql: Queryable,
  { id, from, to }: SealedChange,
): Promise<void> {
  await sql`update user_totps set sealed_secret = ${to} where user_id = ${id} and sealed_secret = ${from}`;
}

export async function listSealedWebhookSecrets(sql: Queryable): Promise<SealedRow[]> {
  return await sql<SealedRow[]>`select id, sealed_secret as sealed from webhooks order by 1`;
}

export async function updateSealedWebhookSecret(
  sql: Queryable,
  { id, from, to }: SealedChange,
): Promise<void> {
  await sql`update webhooks set sealed_secret = ${to} where id = ${id} and sealed_secret = ${from}`;
}

export async function listSealedOldWebhookSecrets(sql: Queryable): Promise<SealedRow[]> {
  return await sql<
    SealedRow[]
  >`select id, sealed_old_secret as sealed from webhooks where old_secret_until > now() order by 1`;
}

export async function updateSealedOldWebhookSecret(
  sql: Queryable,
  { id, from, to }: SealedChange,
): Promise<void> {
  await sql`update webhooks set sealed_old_secret = ${to} where id = ${id} and sealed_old_secret = ${from}`;
}

import type { Queryable } from '@gantry/db/connect';
import {
  type ListedSigningKey,
  listSigningKeys,
  removeSigningKey,
} from '@gantry/db/queries/tenants/tokens';
import { notFound } from '@gantry/model/errors';
import type { Deps } from '../deps.ts';

/**
 * Deletes a signing key, which ends every access token that it signed: in this process at once, in
 * the others within a second. If it was the newest, a new one takes its place.
 */
export async function withdrawSigningKey(
  { tokens }: Deps,
  sql: Queryable,
  id: string,
): Promise<ListedSigningKey> {
  const [newest] = await listSigningKeys(sql);
  if (newest?.id === id) await tokens.insertKey(sql);
  const withdrawn = await removeSigningKey(sql, id);
  if (!withdrawn) throw notFound('signing key');
  return withdrawn;
}

export function signingKeyView({ id, created_at }: ListedSigningKey) {
  return { id, created_at: created_at.toISOString() };
}

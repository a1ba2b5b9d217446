import { sha256 } from '@gantry/daemon/secrets';
import type { Queryable } from '@gantry/db/connect';
import { readServingAuthority } from '@gantry/db/queries/hosts/fleet-authorities';
import {
  type CreatedToken,
  insertJoinToken,
  isJoinToken,
  type JoinTokenRow,
  readLocationOfHost,
  removeUnusedJoinToken,
} from '@gantry/db/queries/hosts/join-tokens';
import { badRequest, CloudError, notFound } from '@gantry/model/errors';
import { newId } from '@gantry/model/ids';
import type { z } from '@hono/zod-openapi';
import { type Caller, callerId } from '../../auth/caller.ts';
import { newKey } from '../../auth/keys.ts';
import { requireLocations } from '../../catalogue/change-locations.ts';
import type { CreateJoinToken } from './schema.ts';

const HOUR_MS = 3_600_000;

type Creation = {
  sql: Queryable;
  caller: Caller;
  body: z.output<typeof CreateJoinToken>;
  now: Date;
};

/** Creates a join token. Only the reply has the secret; the database stores its hash. */
export async function createJoinToken({
  sql,
  caller,
  body,
  now,
}: Creation): Promise<{ row: CreatedToken; secret: string; caSha256: string }> {
  const { host_id: hostId, expires_in_hours } = body;
  const location = hostId ? await locationOfHost(sql, hostId) : (body.location ?? '');
  await requireLocations(sql, [location]);
  const secret = newKey('join_token');
  const token = {
    id: newId(now.getTime()),
    location,
    created_at: now,
    expires_at: new Date(now.getTime() + expires_in_hours * HOUR_MS),
    rejoins_id: hostId ?? null,
  };
  await insertJoinToken(sql, { ...token, hash: sha256(secret), createdBy: callerId(caller) });
  const authority = await readServingAuthority(sql);
  return { row: token, secret, caSha256: authority?.fingerprint ?? '' };
}

async function locationOfHost(sql: Queryable, hostId: string): Promise<string> {
  const location = await readLocationOfHost(sql, hostId);
  if (location !== undefined) return location;
  throw badRequest([
    { field: 'host_id', reason: 'is not a host, or the host is fenced and cannot come back' },
  ]);
}

/** Deletes an unused token. A used one is kept as the record of how its host joined. */
export async function deleteJoinToken(sql: Queryable, joinTokenId: string): Promise<JoinTokenRow> {
  const row = await removeUnusedJoinToken(sql, joinTokenId);
  if (row) return row;
  if (!(await isJoinToken(sql, joinTokenId))) throw notFound('join token');
  throw new CloudError(
    'conflict',
    'a host has already joined with this token: delete the host instead',
  );
}

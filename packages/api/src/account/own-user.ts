import type { UserGrant } from '@gantry/db/queries/tenants/access';
import { readLogin } from '@gantry/db/queries/tenants/logins';
import { badRequest, CloudError } from '@gantry/model/errors';
import type { Caller } from '../auth/caller.ts';
import { sourceOf } from '../auth/source.ts';
import type { Deps } from '../deps.ts';
import { checkPassword } from '../tokens/check-password.ts';

/** Returns the user who sent the request. An access key has no account. */
export function requireUser(caller: Caller): UserGrant {
  if (caller.type === 'user') return caller.grant;
  throw new CloudError('forbidden', 'this request needs an access token of a user');
}

type OwnPassword = {
  deps: Deps;
  user: UserGrant;
  sourceIp: string;
  password: string;
  /** The field that has the password, for the error. */
  field: string;
};

/**
 * Checks the password of the caller again, with the limits of a login, so that a stolen token does
 * not help to find the password. Returns a function that gives the attempt back.
 */
export async function checkOwnPassword(own: OwnPassword): Promise<() => Promise<void>> {
  const { deps, user, field, password } = own;
  const source = sourceOf(own.sourceIp);
  const login = await readLogin(deps.sql, { id: user.id, source });
  try {
    const { refund } = await checkPassword({ deps, login, email: user.email, source, password });
    return refund;
  } catch (error) {
    if (!(error instanceof CloudError) || error.code !== 'bad_credential') throw error;
    throw badRequest([{ field, reason: 'is wrong' }]);
  }
}

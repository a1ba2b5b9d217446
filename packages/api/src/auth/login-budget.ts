import type { Secrets } from '@gantry/daemon/secrets';
import type { Sql } from '@gantry/db/connect';
import {
  claimLoginBudget,
  type LoginBudget,
  refundLoginBudget,
} from '@gantry/db/queries/tenants/logins';
import { TooManyRequests } from '../base/rate-limit.ts';
import { networkOf } from './source.ts';

/**
 * Decides whether a password may be tried, before it is hashed. Guesses at one account from any
 * number of addresses are limited without locking its owner out:
 *
 * 1. A source from which the user has logged in has a budget of its own. What others try does not
 *    reduce it.
 * 2. All other sources share one budget for the account.
 * 3. If that is used up, each of eight groups of networks has a small reserve. An attacker who has
 *    addresses in a few networks cannot use up the reserve of the others, so that an owner in a new
 *    place can usually still log in. A secret key assigns networks to groups, so that
 *    an attacker cannot choose one.
 *
 * In every hour, sources that are not known get at most 20 + 30 + 8 * (2 + 4) = 98 attempts. An
 * attempt with the right password is given back. The budgets are in the database, because they hold
 * for all api processes together. An e-mail address without a user has the same budgets as one with a
 * user, so that the limit does not show which exist.
 */
const KNOWN = { burst: 20, perHour: 60 };
const SHARED = { burst: 20, perHour: 30 };
const RESERVE = { burst: 2, perHour: 4 };
const GROUPS = 8;

/** A refusal is repeated for this long without a query, because a flood asks for the same again. */
const REPEAT_MS = 1_000;
const MAX_REPEATED = 50_000;
const RETRY_AFTER_S = 60;

export type Attempt = {
  /** The user's id, or the e-mail address if there is no such user. */
  account: string;
  /** What `sourceOf` returns for the client's address. */
  source: string;
  /** The user has logged in from this source. */
  known: boolean;
};

export type LoginBudgets = {
  /** Takes one attempt and returns the name of its budget. Throws if all are used up. */
  take(attempt: Attempt): Promise<string>;
  refund(key: string): Promise<void>;
};

export function createLoginBudgets({ sql, secrets }: { sql: Sql; secrets: Secrets }): LoginBudgets {
  const refused = new Map<string, number>();

  const claim = async (budget: LoginBudget): Promise<boolean> => {
    if ((refused.get(budget.key) ?? 0) > Date.now()) return false;
    if (await claimLoginBudget(sql, budget)) return true;
    if (refused.size >= MAX_REPEATED) refused.clear();
    refused.set(budget.key, Date.now() + REPEAT_MS);
    return false;
  };

  return {
    async take(attempt) {
      for (const budget of budgetsOf(attempt, secrets)) {
        if (await claim(budget)) return budget.key;
      }
      throw new TooManyRequests(RETRY_AFTER_S);
    },
    async refund(key) {
      refused.delete(key);
      await refundLoginBudget(sql, key);
    },
  };
}

function budgetsOf({ account, source, known }: Attempt, secrets: Secrets): LoginBudget[] {
  // Neither e-mail addresses that people mistype nor addresses of clients are stored in clear.
  const id = secrets.sign('login-account', account);
  if (known) return [{ ...KNOWN, key: `${id} ${secrets.sign('login-source', source)}` }];
  const digest = Buffer.from(secrets.sign('login-network', networkOf(source)), 'base64url');
  return [
    { ...SHARED, key: id },
    { ...RESERVE, key: `${id} ${digest.readUInt8(0) % GROUPS}` },
  ];
}

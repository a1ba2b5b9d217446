import type { LoginRow } from '@gantry/db/queries/tenants/logins';
import { CloudError } from '@gantry/model/errors';
import { passwordMatches } from '../auth/passwords.ts';
import type { Deps } from '../deps.ts';

type PasswordCheck = {
  deps: Deps;
  /** Undefined if no user has the e-mail address. */
  login: LoginRow | undefined;
  email: string;
  source: string;
  password: string;
};

/** `refund` gives the attempt back. Call it after everything else about the login was right, too. */
export type CheckedPassword = { login: LoginRow; refund(): Promise<void> };

/**
 * Throws bad_credential if the password is wrong, and too_many_requests if it may not be tried. An
 * unknown e-mail address has the same limits and takes the same time as a wrong password.
 */
export async function checkPassword(check: PasswordCheck): Promise<CheckedPassword> {
  const { deps, login, email, source, password } = check;
  const known = login?.known_source === true;
  const budget = await deps.loginBudgets.take({ account: login?.id ?? email, source, known });
  const work = () => passwordMatches(login?.password_hash, password);
  const matches = await deps.hashQueue.run({ source, first: known, work });
  if (!login || !matches) throw wrongPassword();
  return { login, refund: () => deps.loginBudgets.refund(budget) };
}

export function wrongPassword(): CloudError {
  return new CloudError('bad_credential', 'the e-mail or the password is wrong');
}

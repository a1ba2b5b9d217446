import { hash, verify } from '@node-rs/argon2';

export const MIN_PASSWORD = 12;

/** The library's number for argon2id. */
const ARGON2ID = 2;
/** The parameters that OWASP recommends first: 19 MiB, two passes, one lane. */
const PARAMETERS = {
  algorithm: ARGON2ID,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const;

export function hashPassword(password: string): Promise<string> {
  return hash(password, PARAMETERS);
}

/** Takes the same time for an unknown user as for a known one, so that the time reveals nothing. */
export async function passwordMatches(
  storedHash: string | undefined,
  password: string,
): Promise<boolean> {
  // A user without a password, who is invited or pending, is like an unknown one.
  const known = storedHash?.startsWith('$argon2') ? storedHash : undefined;
  const hash = known ?? (await unknownUserHash);
  // A malformed hash matches no password.
  const matches = await verify(hash, password, PARAMETERS).catch(() => false);
  return known !== undefined && matches;
}

const unknownUserHash = hashPassword('nobody has this password');

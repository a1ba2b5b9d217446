import { hash, verify } from '@node-rs/argon2';

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
  const hash = storedHash ?? (await unknownUserHash);
  // A malformed hash matches no password.
  const matches = await verify(hash, password, PARAMETERS).catch(() => false);
  return storedHash !== undefined && matches;
}

const unknownUserHash = hashPassword('nobody has this password');

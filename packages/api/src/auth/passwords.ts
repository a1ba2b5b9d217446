import { hash, verify } from '@node-rs/argon2';

/** The library's name for argon2id. */
const ARGON2ID = 2;
/** OWASP's first choice for it: 19 MiB, two passes, one lane. */
const OPTIONS = { algorithm: ARGON2ID, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

export function hashPassword(password: string): Promise<string> {
  return hash(password, OPTIONS);
}

/** Takes as long for an unknown user as for a known one, so that the time tells nothing. */
export async function passwordMatches(
  storedHash: string | undefined,
  password: string,
): Promise<boolean> {
  const hash = storedHash ?? (await unknownUserHash);
  // A hash that is none matches nothing.
  const matches = await verify(hash, password, OPTIONS).catch(() => false);
  return storedHash !== undefined && matches;
}

const unknownUserHash = hashPassword('nobody has this password');

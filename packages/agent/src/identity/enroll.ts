import { access, constants, mkdir } from 'node:fs/promises';
import { EnrolmentError } from './enrolment-error.ts';
import type { Identity } from './identity.ts';
import { learnAuthority } from './learn-authority.ts';
import { requestIdentity } from './request-certificate.ts';
import { loadIdentity, saveIdentity } from './state-files.ts';

/** How the fleet's authority is known beforehand: whole, or by the SHA-256 of its certificate. */
export type Trust = { caPem: string } | { caFingerprint: string };

type Enrolment = {
  /** host:port of a scheduler. */
  address: string;
  token: string;
  hostname: string;
  stateDirectory: string;
} & Trust;

/**
 * Makes this host a member of a fleet and writes down who it is now. The token is sent once the
 * scheduler is proven to be of the fleet that is meant. Killed midway, the host is not enrolled; a
 * token that was used up by then lets nobody in again, and its host is removed by an operator.
 */
export async function enroll(options: Enrolment): Promise<Identity> {
  const { address, token, hostname, stateDirectory } = options;
  await requireWritable(stateDirectory);
  const known = await loadIdentity(stateDirectory);
  if (known) {
    throw new EnrolmentError(
      'already_enrolled',
      `this host is enrolled as ${known.hostId}: empty ${stateDirectory} to make it another one`,
    );
  }
  const caPem =
    'caPem' in options ? options.caPem : await learnAuthority(address, options.caFingerprint);
  const identity = await requestIdentity({ address, token, caPem, hostname });
  await saveIdentity(stateDirectory, identity);
  return identity;
}

/** Found out before the token is sent: it is good once. */
async function requireWritable(stateDirectory: string): Promise<void> {
  try {
    await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
    await access(stateDirectory, constants.W_OK);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new EnrolmentError('unwritable', `${stateDirectory} cannot be written: ${why}`, {
      cause: error,
    });
  }
}

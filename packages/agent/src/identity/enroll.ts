import { access, constants, mkdir } from 'node:fs/promises';
import { EnrolmentError } from './enrolment-error.ts';
import type { Identity } from './identity.ts';
import { learnAuthority } from './learn-authority.ts';
import { requestIdentity } from './request-certificate.ts';
import { loadIdentity, saveIdentity } from './state-files.ts';

/** How the fleet's authority is known in advance: as a certificate, or by its SHA-256. */
export type Trust = { caPem: string } | { caFingerprint: string };

type Enrolment = {
  /** host:port of a scheduler. */
  address: string;
  token: string;
  hostname: string;
  stateDirectory: string;
  /** The host may be enrolled already. Then the token must name it, and it stays the same host. */
  again?: boolean;
} & Trust;

/**
 * Enrolls this host in a fleet and stores its identity. The token is sent only after the scheduler
 * has proven that it belongs to the intended fleet. If the process dies midway, the host is not
 * enrolled. A token that was used by then is not accepted again, and an operator must remove the
 * host it created.
 */
export async function enroll(options: Enrolment): Promise<Identity> {
  const { address, token, hostname, stateDirectory } = options;
  await requireWritable(stateDirectory);
  const known = await loadIdentity(stateDirectory);
  if (known && !options.again) {
    throw new EnrolmentError(
      'already_enrolled',
      `this host is enrolled as ${known.hostId}: use --again with a token for this host, or empty ${stateDirectory} ` +
        'to enrol it as another one',
    );
  }
  const caPem =
    'caPem' in options ? options.caPem : await learnAuthority(address, options.caFingerprint);
  const identity = await requestIdentity({
    ...{ address, token, caPem, hostname },
    hostId: known?.hostId ?? '',
  });
  await saveIdentity(stateDirectory, identity);
  return identity;
}

/**
 * Checks that the directory is writable before the token is sent, because a token works only once.
 */
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

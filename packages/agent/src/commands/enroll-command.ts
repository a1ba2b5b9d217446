import { hostname } from 'node:os';
import { parseArgs } from 'node:util';
import { parseFingerprint } from '@gantry/pki/fingerprint';
import { enroll } from '../identity/enroll.ts';
import { EnrolmentError } from '../identity/enrolment-error.ts';
import { splitAddress } from '../identity/learn-authority.ts';

export type EnrollOptions = {
  address: string;
  token: string;
  caFingerprint: string;
  hostname: string;
  again: boolean;
};

/** The message names the option. */
export class OptionError extends Error {
  override name = 'OptionError';
}

/** `givenToken` counts if there is no --token, which other users of the server could read. */
export function parseEnrollOptions(
  args: readonly string[],
  givenToken?: string | undefined,
): EnrollOptions {
  const values = readOptions(args);
  const required = (name: 'server' | 'token' | 'ca-sha256') => {
    const value = values[name];
    if (value) return value;
    throw new OptionError(`--${name} must be given`);
  };
  const address = required('server');
  requireAddress(address);
  const caFingerprint = required('ca-sha256');
  if (parseFingerprint(caFingerprint) === undefined) {
    throw new OptionError('--ca-sha256 must be 64 hex digits');
  }
  return {
    ...{
      address,
      token: givenToken && !values.token ? givenToken : required('token'),
      caFingerprint,
    },
    ...{ hostname: values.name ?? hostname(), again: values.again ?? false },
  };
}

function readOptions(args: readonly string[]) {
  const text = { type: 'string' } as const;
  try {
    const again = { type: 'boolean' } as const;
    const options = { server: text, token: text, 'ca-sha256': text, name: text, again };
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    // Node's message names the option in its first sentence; the rest is not needed.
    const said = error instanceof Error ? error.message : String(error);
    throw new OptionError(said.split('. ')[0], { cause: error });
  }
}

function requireAddress(address: string): void {
  try {
    splitAddress(address);
  } catch (error) {
    if (!(error instanceof EnrolmentError)) throw error;
    throw new OptionError(`--server: ${error.message}`, { cause: error });
  }
}

/** Enrolls this host in a fleet. Returns the message to print. */
export async function enrollHost(options: EnrollOptions, stateDirectory: string): Promise<string> {
  const { hostId } = await enroll({ ...options, stateDirectory });
  return `enrolled as ${hostId}; its key and certificate are in ${stateDirectory}`;
}

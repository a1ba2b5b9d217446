import { execFile } from 'node:child_process';
import { rename } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { StartError } from '../base/start-error.ts';
import { readIfThere } from '../home/home.ts';
import { LOCATION } from './offer-tiny-guest.ts';
import type { Operator } from './operator.ts';

type Enrolment = {
  operator: Operator;
  agentScript: string;
  stateDirectory: string;
  schedulerPort: number;
  environment: NodeJS.ProcessEnv;
};

/** Enrols this machine as a host of the fleet, unless it already is one. */
export async function ensureEnrolled(enrolment: Enrolment): Promise<void> {
  const { operator, stateDirectory } = enrolment;
  const read = (name: string) => readIfThere(path.join(stateDirectory, name));
  const hostId = (await read('host-id'))?.trim();
  // Enrolment writes the certificate last.
  if (hostId && (await read('certificate.pem')) !== undefined) {
    if (await operator.unless(404, 'GET', `/admin/hosts/${hostId}`)) return;
    // The database is another one now. The old state is kept: it shows who owns remaining VMs.
    await rename(stateDirectory, `${stateDirectory}-of-${hostId}`);
  }
  await enroll(enrolment);
}

async function enroll(enrolment: Enrolment): Promise<void> {
  const { operator, agentScript, stateDirectory, schedulerPort, environment } = enrolment;
  const { token, ca_sha256 } = await operator.call<{ token: string; ca_sha256: string }>(
    'POST',
    '/admin/join-tokens',
    { location: LOCATION },
  );
  const where = ['--server', `localhost:${schedulerPort}`];
  const args = ['enroll', ...where, '--token', token, '--ca-sha256', ca_sha256];
  const env = { ...environment, GANTRY_STATE_DIRECTORY: stateDirectory };
  try {
    await promisify(execFile)(process.execPath, [agentScript, ...args], { env });
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    throw new StartError(`This machine could not be enrolled. ${stderr.trim()}`, { cause: error });
  }
}

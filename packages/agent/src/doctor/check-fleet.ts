import { GIB } from '@gantry/daemon/units';
import { type Finding, fail, ok, warn } from '../base/finding.ts';
import type { Check } from './doctor-host.ts';

/** Less than this is too little for an image and a disk created from it. */
const LEAST_BYTES = 10 * GIB;
const LITTLE = 0.1;

export const checkSpace: Check = async ({ readSpace, settings: { dataDirectory } }) => {
  const { freeBytes, totalBytes } = await readSpace(dataDirectory);
  const found = `${Math.floor(freeBytes / GIB)} of ${Math.floor(totalBytes / GIB)} GiB free in ${dataDirectory}`;
  const advice = 'make room, or set GANTRY_DATA_DIRECTORY to a larger file system';
  if (freeBytes < LEAST_BYTES) return [fail('space', found, advice)];
  return [freeBytes < totalBytes * LITTLE ? warn('space', found, advice) : ok('space', found)];
};

export const checkEnrolment: Check = async ({ readCertificateEnd, nowMs, settings }) => {
  let end: Date | null;
  try {
    end = await readCertificateEnd();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [fail('enrolment', reason, 'gantry-agent enroll')];
  }
  if (end === null) {
    const found = `nothing in ${settings.stateDirectory}`;
    return [warn('enrolment', found, 'make it a member of a fleet: gantry-agent enroll')];
  }
  const day = end.toISOString().slice(0, 10);
  if (end.getTime() <= nowMs()) {
    return [
      fail('enrolment', `its certificate ended on ${day}`, 'enrol it again: gantry-agent enroll'),
    ];
  }
  return [ok('enrolment', `its certificate is good until ${day}`)];
};

export const checkSchedulers: Check = async ({ connect, settings: { schedulers } }) => {
  if (schedulers.length === 0) {
    return [
      warn('schedulers', 'none are named', 'set GANTRY_SCHEDULERS, in /etc/gantry/agent.env'),
    ];
  }
  return Promise.all(
    schedulers.map(async (address): Promise<Finding> => {
      const problem = await connect(address);
      if (problem === null) return ok('schedulers', `${address} can be reached`);
      const advice = 'see to its name, its port and the firewalls in between';
      return fail('schedulers', `${address}: ${problem}`, advice);
    }),
  );
};

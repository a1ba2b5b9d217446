import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * The capabilities that virtiofsd keeps, with their numbers, both QEMU's (up to 7.2) and the later one in a package of its
 * own. CAP_SYS_RESOURCE is not among them: the kernel lets a process with it, such as the agent, exceed quotas.
 * vm-life.libvirt.test.ts compares this with a running virtiofsd.
 */
const CAPABILITIES = {
  ...{ chown: 0, dac_override: 1, fowner: 3, fsetid: 4 },
  ...{ setgid: 6, setuid: 7, mknod: 27, setfcap: 31 },
};

/** As /proc/PID/status shows them. */
export const VIRTIOFSD_CAPABILITIES = Object.values(CAPABILITIES)
  .reduce((mask, bit) => mask | (1n << BigInt(bit)), 0n)
  .toString(16)
  .padStart(16, '0');

/** Runs a shell script in a directory with the rights of virtiofsd. Returns what it printed, also to standard error. */
export async function asVirtiofsd(directory: string, script: string): Promise<string> {
  const names = Object.keys(CAPABILITIES).map((name) => `+${name}`);
  const shell = ['env', '--chdir', directory, 'sh', '-c', `exec 2>&1; ${script}`];
  const bounding = ['-all', ...names].join(',');
  const args = ['--bounding-set', bounding, '--inh-caps', '-all', ...shell];
  const { stdout } = await promisify(execFile)('setpriv', args);
  return stdout;
}

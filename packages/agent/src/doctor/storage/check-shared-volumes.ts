import { type Finding, fail, ok, warn } from '../../base/finding.ts';
import type { QuotaMount } from '../../volumes/shared/quota-mount.ts';
import type { Check, DoctorHost } from '../doctor-host.ts';

const CHECK = 'shared volumes';
const PROGRAMS = [
  { path: 'usr/sbin/setquota', packageName: 'quota' },
  { path: 'usr/sbin/repquota', packageName: 'quota' },
  { path: 'usr/bin/chattr', packageName: 'e2fsprogs' },
  { path: 'usr/bin/lsattr', packageName: 'e2fsprogs' },
];
/** More would not fit a line. */
const NAMED = 3;

/** Checks whether the sizes of shared volumes in a directory of this host are limits. */
export const checkSharedVolumes: Check = async (host) => {
  const { sharedDirectory: directory } = host.settings;
  const mount = await host.readQuotaMount(directory);
  if (mount === null) return [];
  const place = `${directory} is on ${mount.fileSystem}`;
  if (mount.state === 'cluster')
    return [ok(CHECK, `${place}: their sizes are recorded, not enforced`)];
  if (mount.state === 'enforced') return await checkEnforced(host, directory);
  const lacks = mount.state === 'off' ? 'without' : 'which has no';
  const found = `${place} ${lacks} project quotas: a guest with a shared volume can fill it`;
  return [warn(CHECK, found, `if VMs have shared volumes in it: ${adviceFor(mount)}`)];
};

async function checkEnforced(
  { files, listUnlimited }: DoctorHost,
  directory: string,
): Promise<Finding[]> {
  for (const { path, packageName } of PROGRAMS) {
    if (await files.exists(path)) continue;
    const found = `${directory} has project quotas, but /${path} is missing: no shared volume is created`;
    return [fail(CHECK, found, `apt-get install ${packageName}`)];
  }
  const unlimited = await listUnlimited(directory);
  if (unlimited.length === 0) return [ok(CHECK, `${directory} enforces their sizes`)];
  const more = unlimited.length > NAMED ? ` and ${unlimited.length - NAMED} more` : '';
  const named = `${unlimited.slice(0, NAMED).join(', ')}${more}`;
  const advice =
    'stop all VMs that have them, and start them again; if that does not help, see "not enforced" in journalctl -u gantry-agent';
  return [warn(CHECK, `${directory} does not enforce the size of ${named}`, advice)];
}

function adviceFor({ state, fileSystem, mountPoint }: QuotaMount): string {
  const own =
    'set GANTRY_SHARED_DIRECTORY to a file system of its own, made with mkfs.ext4 -O quota,project -E quotatype=prjquota ' +
    'and mounted with prjquota';
  if (state === 'incapable') return own;
  if (fileSystem === 'xfs') {
    return mountPoint === '/'
      ? 'add rootflags=prjquota to the kernel command line, and reboot'
      : `stop them, unmount ${mountPoint}, add prjquota to its options in /etc/fstab, and mount it`;
  }
  if (mountPoint === '/') return own;
  return (
    `stop them, unmount ${mountPoint}, run tune2fs -O quota,project -Q prjquota on its device, add prjquota to its ` +
    'options in /etc/fstab, and mount it'
  );
}

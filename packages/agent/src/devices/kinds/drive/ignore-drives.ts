import type { NamedDevice } from '../kind-driver.ts';

const HEADER = '# Drives of tenants. Written by gantry-agent.';
/** Everything else could mean something in a udev pattern. */
const PLAIN_SERIAL = /^[\w.-]+( [\w.-]+)*$/;

/**
 * Returns rules by which udev does not probe the drives and systemd does not mount them, so that no
 * RAID or volume group on them is assembled. A drive is named by its serial number: after a change of
 * the hardware its address may be that of the host's own drive.
 */
export function ignoreDrives(drives: readonly NamedDevice[]): string {
  if (drives.length === 0) return '';
  const lines = drives.map(
    (drive) =>
      `SUBSYSTEM=="block", ${matchOf(drive)}, ` +
      'ENV{UDEV_DISABLE_PERSISTENT_STORAGE_RULES_FLAG}="1", ENV{SYSTEMD_READY}="0"',
  );
  return `${[HEADER, ...new Set(lines.sort())].join('\n')}\n`;
}

function matchOf({ address, serial }: NamedDevice): string {
  return PLAIN_SERIAL.test(serial) ? `ATTRS{serial}=="${serial}"` : `KERNELS=="${address}"`;
}

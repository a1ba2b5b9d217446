import { type Finding, fail, ok, warn } from '../../../base/finding.ts';
import type { CheckedHost, InventoryDevice, KindCheck } from '../kind-driver.ts';

export const DRIVE_CHECKS: readonly KindCheck[] = [
  ['NVMe drives', checkDrives],
  ['nvme-cli', checkNvmeCli],
];

const drivesOf = ({ devices }: CheckedHost) => devices.filter(({ kind }) => kind === 'drive');

export async function checkDrives(host: CheckedHost): Promise<Finding[]> {
  const drives = drivesOf(host);
  if (drives.length === 0) return [ok('NVMe drives', 'none')];
  const free = drives.filter(({ uses }) => uses.length === 0);
  const used = drives.filter(({ uses }) => uses.length > 0);
  return [
    ok(
      'NVMe drives',
      `${free.length} of ${drives.length} are for VMs: what is on them is given away, and erased after`,
    ),
    ...used.map((drive) =>
      ok('NVMe drives', `${nameOf(drive)} is the host's: ${drive.uses.join(', ')}`),
    ),
    ...drives.flatMap(wearOf),
  ];
}

function nameOf({ address, model, serial }: InventoryDevice): string {
  return [address, model, serial].filter((word) => word !== '').join(' ');
}

function wearOf(drive: InventoryDevice): Finding[] {
  const { critical_warning: warning = 0, percentage_used: used = 0 } = drive.health;
  const advice = 'replace it';
  if (warning !== 0) {
    const bits = `0x${warning.toString(16)}`;
    return [warn('NVMe drives', `${nameOf(drive)} warns of itself (${bits})`, advice)];
  }
  if (used >= 100) {
    return [warn('NVMe drives', `${nameOf(drive)} is past its life (${used} %)`, advice)];
  }
  return [];
}

/** The agent erases drives and reads their health with nvme-cli. */
export async function checkNvmeCli(host: CheckedHost): Promise<Finding[]> {
  if (drivesOf(host).length === 0) return [];
  const version = await host.run('nvme', ['version']).catch(() => null);
  if (version === null) {
    const found = 'not installed: no drive can be erased after a VM';
    return [fail('nvme-cli', found, 'apt-get install nvme-cli')];
  }
  return [ok('nvme-cli', /\d+(\.\d+)+/.exec(version)?.[0] ?? 'installed')];
}

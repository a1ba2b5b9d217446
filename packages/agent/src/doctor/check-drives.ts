import type { NvmeDrive } from '../devices/kinds/nvme/read-drives.ts';
import type { Check } from './doctor-host.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

export const checkDrives: Check = async ({ nvmes }) => {
  if (nvmes.length === 0) return [ok('NVMe drives', 'none')];
  const free = nvmes.filter(({ uses }) => uses.length === 0);
  const used = nvmes.filter(({ uses }) => uses.length > 0);
  return [
    ok(
      'NVMe drives',
      `${free.length} of ${nvmes.length} are for VMs: what is on them is given away, and erased after`,
    ),
    ...used.map((drive) =>
      ok('NVMe drives', `${nameOf(drive)} is the host's: ${drive.uses.join(', ')}`),
    ),
    ...nvmes.flatMap(wearOf),
  ];
};

function nameOf({ pci, model, serial }: NvmeDrive): string {
  return [pci.address, model, serial].filter((word) => word !== '').join(' ');
}

function wearOf(drive: NvmeDrive): Finding[] {
  const { health } = drive;
  if (!health) return [];
  const advice = 'replace it';
  if (health.criticalWarning !== 0) {
    const bits = `0x${health.criticalWarning.toString(16)}`;
    return [warn('NVMe drives', `${nameOf(drive)} warns of itself (${bits})`, advice)];
  }
  if (health.percentageUsed >= 100) {
    return [
      warn('NVMe drives', `${nameOf(drive)} is past its life (${health.percentageUsed} %)`, advice),
    ];
  }
  return [];
}

/** The agent erases drives and reads their health with nvme-cli. */
export const checkNvmeCli: Check = async ({ nvmes, run }) => {
  if (nvmes.length === 0) return [];
  const version = await run('nvme', ['version']).catch(() => null);
  if (version === null) {
    const found = 'not installed: no drive can be erased after a VM';
    return [fail('nvme-cli', found, 'apt-get install nvme-cli')];
  }
  return [ok('nvme-cli', /\d+(\.\d+)+/.exec(version)?.[0] ?? 'installed')];
};

import { type Finding, fail, ok, warn } from '../base/finding.ts';
import type { InventoryDevice } from '../devices/kinds/kind-driver.ts';
import { isBridge, readFunctions } from '../devices/pci/pci-function.ts';
import { whyUnassignable } from '../devices/why-unassignable.ts';
import type { Check, DoctorHost } from './doctor-host.ts';
import { unassignedBars } from './unassigned-bars.ts';

/** The devices that VMs can get: those that the host does not use itself. */
function passable({ devices }: DoctorHost): InventoryDevice[] {
  return devices.filter(({ uses }) => uses.length === 0);
}

export const checkStandIns: Check = async ({ settings }) =>
  settings.standIns
    ? [
        warn(
          'stand-ins',
          'GANTRY_STAND_IN_DEVICES is 1: VMs see no GPUs and no drives',
          'unset it, unless this host is for trying things',
        ),
      ]
    : [];

export const checkLost: Check = async (host) =>
  passable(host).flatMap(({ address, lost }) =>
    lost
      ? fail(
          'device',
          `${address} fell off the bus`,
          'turn the host off and on; replace it if it stays away',
        )
      : [],
  );

/** Devices of one group can reach each other's memory, so a VM gets all of them or none. */
export const checkGroups: Check = async (host) => {
  const groups = await host.sysfs.list('kernel/iommu_groups');
  const devices = passable(host).filter(({ lost }) => !lost);
  if (groups.length === 0 || devices.length === 0) return [];
  const findings: Finding[] = [];
  for (const device of devices) findings.push(...(await checkGroup(host, device)));
  return findings.length > 0 ? findings : [ok('IOMMU groups', 'each device is alone in its own')];
};

async function checkGroup(host: DoctorHost, device: InventoryDevice): Promise<Finding[]> {
  const { sysfs } = host;
  const { address, iommuGroup, iommuGroupOthers, functions } = device;
  if (iommuGroup === undefined) {
    const advice = 'start the agent, which gives it to vfio-pci, and look again';
    return [warn('IOMMU groups', `${address} has none before a driver had it`, advice)];
  }
  const why = await whyUnassignable(host, device);
  if (why) return [fail('IOMMU groups', `${address} ${why.reason}`, why.advice)];
  const members = await readFunctions(sysfs, iommuGroupOthers);
  const strangers = members.filter(
    (member) => !isBridge(member) && !functions.includes(member.address),
  );
  if (strangers.length === 0) return [];
  const names = strangers.map((stranger) => stranger.address);
  return [
    warn(
      'IOMMU groups',
      `${address} shares group ${iommuGroup} with ${names.join(', ')}: one VM gets all of them or none`,
      'turn on ACS in the BIOS, or put it into another slot, to give them to several VMs',
    ),
  ];
}

export const checkBars: Check = async (host) => {
  const findings: Finding[] = [];
  const devices = passable(host).filter(({ lost }) => !lost);
  for (const { address } of devices) {
    const bars = await unassignedBars(host.sysfs, address);
    if (bars.length === 0) continue;
    findings.push(
      fail(
        'memory regions',
        `${address} has no addresses for region ${bars.join(' and ')}`,
        'turn on Above 4G Decoding in the BIOS, and Resizable BAR where it has it',
      ),
    );
  }
  if (devices.length === 0 || findings.length > 0) return findings;
  return [ok('memory regions', 'all have addresses')];
};

/** An idle device lowers its link speed to save power; its number of lanes does not change. */
export const checkLinks: Check = async (host) => {
  const linked = passable(host).filter(({ link, lost }) => link !== undefined && !lost);
  const findings = linked.flatMap(({ address, link }) =>
    link && link.width < link.maxWidth
      ? warn(
          'PCIe links',
          `${address} has ${link.width} of ${link.maxWidth} lanes`,
          'see that its slot has them all; if it does, reseat the card or its riser',
        )
      : [],
  );
  if (linked.length === 0 || findings.length > 0) return findings;
  return [ok('PCIe links', 'all at full width')];
};

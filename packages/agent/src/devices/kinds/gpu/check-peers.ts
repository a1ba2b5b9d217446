import { type Finding, ok, warn } from '../../../base/finding.ts';
import type { Sysfs } from '../../../base/sysfs.ts';
import { findExtendedCapability } from '../../pci/extended-capability.ts';
import { PCI_DEVICES } from '../../pci/pci-device.ts';
import type { CheckedHost } from '../kind-driver.ts';
import { peersOf } from './gpu-peers.ts';

const ACS = 0x0d;
const ATS = 0x0f;
/** Offsets of the control registers, and their bits. */
const CONTROL = 6;
const REDIRECTS_REQUESTS = 0x4;
const DIRECT_TRANSLATED = 0x40;
const ATS_ENABLED = 0x8000;
const CONFIG_BYTES = 4_096;

/**
 * How data moves between GPUs below one switch. A port of the switch with ACS sends requests up to the
 * IOMMU, which keeps VMs apart and costs speed; translated requests (ATS) may go directly.
 */
export async function checkPeers({ sysfs, devices }: CheckedHost): Promise<Finding[]> {
  const groups = new Map<string, { address: string; port: string }[]>();
  for (const { kind, address, bridges, ...device } of devices) {
    const peers = kind === 'gpu' ? peersOf({ ...device, bridges }, 'switch') : null;
    if (!peers?.switch) continue;
    const gpu = { address, port: bridges.at(-1) ?? '' };
    groups.set(peers.switch, [...(groups.get(peers.switch) ?? []), gpu]);
  }
  const findings: Finding[] = [];
  for (const [name, gpus] of groups) {
    if (gpus.length > 1) findings.push(await checkSwitch(sysfs, name, gpus));
  }
  return findings;
}

async function checkSwitch(
  sysfs: Sysfs,
  name: string,
  gpus: readonly { address: string; port: string }[],
): Promise<Finding> {
  const open: string[] = [];
  let areDirect = true;
  for (const { address, port } of gpus) {
    const acs = await readControl(sysfs, port, ACS);
    if ((acs & REDIRECTS_REQUESTS) === 0) open.push(port);
    const ats = await readControl(sysfs, address, ATS);
    if ((acs & DIRECT_TRANSLATED) === 0 || (ats & ATS_ENABLED) === 0) areDirect = false;
  }
  const subject = `${gpus.length} GPUs below the switch ${name}`;
  if (open.length > 0) {
    const found = `${subject}: ACS of ${open.join(', ')} is off, so a GPU reaches the others without the IOMMU`;
    return warn('GPU peers', found, 'turn on ACS in the BIOS, unless one VM gets all of them');
  }
  const way = areDirect ? 'directly (ATS)' : 'through the IOMMU, because ACS redirects them';
  return ok('GPU peers', `${subject} exchange data ${way}`);
}

/** Zero if the device does not have the capability. */
async function readControl(sysfs: Sysfs, address: string, id: number): Promise<number> {
  const config = await sysfs.bytes(`${PCI_DEVICES}/${address}/config`, CONFIG_BYTES);
  const at = config && findExtendedCapability(config, id);
  return config && at !== undefined && at + CONTROL + 2 <= config.length
    ? config.readUInt16LE(at + CONTROL)
    : 0;
}

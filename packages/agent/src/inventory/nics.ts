import type { Sysfs } from '../base/sysfs.ts';
import { PCI_ADDRESS } from '../devices/pci/pci-bridges.ts';

export type Nic = {
  name: string;
  mac: string;
  pciAddress: string;
  speedMbps?: number;
  mtu: number;
  up: boolean;
  infiniband: boolean;
};

/** The kernel's ARPHRD_INFINIBAND. */
const INFINIBAND_TYPE = 32;

const INTERFACES = 'class/net';

/** Physical interfaces and bonds. Taps and bridges change with VMs and are not part of a host. */
export async function readNics(sysfs: Sysfs): Promise<Nic[]> {
  const nics: Nic[] = [];
  for (const name of await sysfs.list(INTERFACES)) {
    const folder = `${INTERFACES}/${name}`;
    const isPhysical = (await sysfs.linkName(`${folder}/device`)) !== undefined;
    const isBond = (await sysfs.list(`${folder}/bonding`)).length > 0;
    if (!isPhysical && !isBond) continue;
    const speedMbps = await sysfs.integer(`${folder}/speed`);
    nics.push({
      name,
      mac: (await sysfs.text(`${folder}/address`)) ?? '',
      pciAddress: await readPciAddress(sysfs, folder),
      // Some drivers return -1 instead of an error while the link is down.
      ...(speedMbps !== undefined && speedMbps >= 0 && { speedMbps }),
      mtu: (await sysfs.integer(`${folder}/mtu`)) ?? 0,
      up: (await sysfs.text(`${folder}/operstate`)) === 'up',
      infiniband: (await sysfs.integer(`${folder}/type`)) === INFINIBAND_TYPE,
    });
  }
  return nics;
}

/** The link points to the card itself, or for virtio to one level below it. */
async function readPciAddress(sysfs: Sysfs, folder: string): Promise<string> {
  const device = await sysfs.linkName(`${folder}/device`);
  if (device === undefined || PCI_ADDRESS.test(device)) return device ?? '';
  const devices = await sysfs.list('bus/pci/devices');
  for (const address of devices) {
    const children = await sysfs.list(`bus/pci/devices/${address}`);
    if (children.includes(device)) return address;
  }
  return '';
}

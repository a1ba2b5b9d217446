import { gpuModelOf } from '@gantry/model/gpu-models';
import type { Sysfs } from '../../../base/sysfs.ts';
import { parseId } from '../../pci/pci-attributes.ts';
import { listDevicesOfClass, PCI_DEVICES, type PciDevice } from '../../pci/pci-device.ts';

/**
 * GPUs on an SXM board are joined by NVSwitch chips. CUDA does not start on such a GPU until NVIDIA's
 * fabric manager has set up the switches, and Gantry does not run one. The card would look healthy
 * on the bus and be useless in a guest.
 */
export const NEEDS_FABRIC_MANAGER = 'needs a fabric manager, not supported yet';

const NVIDIA = '10de';
/** "Other bridge". An NVSwitch is NVIDIA's only device of this class in a GPU server. */
const NVSWITCH_CLASS = '0680';
const SXM = /\bSXM\d?\b/;
/** Of SXM boards, and not named so: V100, A100 and H800 variants, H20, B200, GB200, B300, GB300. */
const SXM_IDS = new Set([
  ...['1db8', '1df5', '20b3', '20f3', '2324', '2329', '2901', '2941', '3182', '31c2', '31c3'],
]);

/** Blackwell's NVSwitches are not on the PCI bus, so the ids of its cards are listed above. */
export async function hasNvswitch(sysfs: Sysfs): Promise<boolean> {
  for (const address of await listDevicesOfClass(sysfs, NVSWITCH_CLASS)) {
    if (parseId(await sysfs.text(`${PCI_DEVICES}/${address}/vendor`)) === NVIDIA) return true;
  }
  return false;
}

/** In a server with NVSwitches, a card that is not known as a PCIe card is on the SXM board. */
export function needsFabricManager(
  { vendorId, deviceId, name }: Pick<PciDevice, 'vendorId' | 'deviceId' | 'name'>,
  isBesideNvswitch: boolean,
): boolean {
  if (vendorId !== NVIDIA) return false;
  const names = `${gpuModelOf(vendorId, deviceId)} ${name}`;
  if (SXM.test(names) || SXM_IDS.has(deviceId)) return true;
  return isBesideNvswitch && !/\bPCIe\b/.test(names);
}

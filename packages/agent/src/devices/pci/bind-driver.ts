import { HostFailure } from '../../base/failure.ts';
import type { PciHost } from './pci-control.ts';
import { PCI_DEVICES } from './pci-device.ts';
import { VFIO_DRIVER } from './pci-function.ts';

/** The value that the kernel takes as "no override". */
const NO_OVERRIDE = '\n';

/** Loads vfio-pci if needed. If that fails, the host is at fault and not a device. */
export async function ensureVfio({ sysfs, control }: PciHost): Promise<void> {
  const isThere = async () => (await sysfs.list(`bus/pci/drivers/${VFIO_DRIVER}`)).length > 0;
  if (await isThere()) return;
  await control.run('modprobe', [VFIO_DRIVER]).catch(() => undefined);
  if (await isThere()) return;
  const message = `the kernel has no ${VFIO_DRIVER}: gantry-agent doctor says what this host lacks`;
  throw new HostFailure('vfio_missing', message);
}

/** Unbinds a function from the host's driver and binds it to VFIO. */
export async function bindToVfio({ sysfs, control }: PciHost, address: string): Promise<void> {
  await bindTo({ sysfs, control }, { address, driver: VFIO_DRIVER, override: VFIO_DRIVER });
}

/** Binds a function to the given host driver; empty: to none. */
export async function bindToHost(
  { sysfs, control }: PciHost,
  { address, driver }: { address: string; driver: string },
): Promise<void> {
  const override = driver === VFIO_DRIVER ? VFIO_DRIVER : NO_OVERRIDE;
  await bindTo({ sysfs, control }, { address, driver, override });
}

/** Every step can be observed in sysfs, so repeating the steps from any point is idempotent. */
async function bindTo(
  { sysfs, control }: PciHost,
  { address, driver, override }: { address: string; driver: string; override: string },
): Promise<void> {
  const device = `${PCI_DEVICES}/${address}`;
  const current = async () => (await sysfs.linkName(`${device}/driver`)) ?? '';
  await control.write({ path: `${device}/driver_override`, value: override, address });
  const before = await current();
  if (before === driver) return;
  if (before !== '') {
    await control.write({ path: `${device}/driver/unbind`, value: address, address });
  }
  if (driver !== '')
    await control.write({ path: 'bus/pci/drivers_probe', value: address, address });
  const after = await current();
  if (after === driver) return;
  const message = `${address} should be on driver ${driver || 'none'} and is on ${after || 'none'}: the kernel's log says why`;
  throw new HostFailure('device_not_bound', message);
}

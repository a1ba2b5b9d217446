import type { PciDevice } from '../devices/pci/pci-device.ts';
import type { Check, DoctorHost } from './doctor-host.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** These drivers do not use a card, so that it can be assigned to a VM at any time. */
const IDLE_DRIVERS = new Set(['', 'vfio-pci', 'pci-stub']);

export const checkGpus: Check = async ({ gpus, settings }) => {
  const { gpuVendorIds: vendors, standIns } = settings;
  const findings = standIns ? [standInFinding()] : [];
  if (gpus.length === 0) {
    const advice = 'see that lspci shows the cards; GANTRY_GPU_VENDORS names their vendors';
    return [...findings, warn('GPUs', `none of the vendors ${vendors.join(', ')}`, advice)];
  }
  return [...findings, ok('GPUs', countByModel(gpus.map(({ pci }) => pci)))];
};

function standInFinding(): Finding {
  return warn(
    'stand-ins',
    'GANTRY_STAND_IN_DEVICES is 1: VMs see no GPUs and no drives',
    'unset it, unless this host is for trying things',
  );
}

function countByModel(devices: readonly PciDevice[]): string {
  const counts = new Map<string, number>();
  for (const { name, vendorId, deviceId } of devices) {
    const model = name === '' ? `${vendorId}:${deviceId}` : name;
    counts.set(model, (counts.get(model) ?? 0) + 1);
  }
  return [...counts].map(([model, count]) => `${count} x ${model}`).join(', ');
}

/**
 * The agent unbinds a card from its driver; a driver that serves a screen or a job does not release
 * it.
 */
export const checkGpuDrivers: Check = async ({ gpus }) => {
  const drivers = new Map<string, string[]>();
  for (const { pci } of gpus) {
    if (IDLE_DRIVERS.has(pci.driver)) continue;
    drivers.set(pci.driver, [...(drivers.get(pci.driver) ?? []), pci.address]);
  }
  if (gpus.length > 0 && drivers.size === 0) return [ok('GPU drivers', 'none of the host')];
  return [...drivers].map(([driver, addresses]) =>
    warn(
      'GPU drivers',
      `the host's driver ${driver} has ${addresses.join(', ')}`,
      `add modprobe.blacklist=${blacklistOf(driver)} to the kernel command line`,
    ),
  );
};

function blacklistOf(driver: string): string {
  return driver === 'nvidia' ? 'nouveau,nvidia,nvidia_drm,nvidia_modeset' : driver;
}

/** A card without a reset method cannot be cleaned after a VM, and is then never assigned again. */
export const checkResets: Check = async ({ gpus, sysfs }) => {
  const findings: Finding[] = [];
  for (const { pci } of gpus) {
    // Kernels before 5.15 do not list the methods, and show only whether there is one.
    const hasAny = await sysfs.exists(`bus/pci/devices/${pci.address}/reset`);
    if (pci.lost || pci.resetMethods.length > 0 || hasAny) continue;
    const found = `${pci.address} has no reset of its own`;
    findings.push(
      pci.functions.length > 1
        ? warn(
            'GPU reset',
            found,
            'see that it is alone below its bridge: it is reset with its bus',
          )
        : fail('GPU reset', found, 'put it into another slot, or use a newer kernel'),
    );
  }
  if (gpus.length > 0 && findings.length === 0) return [ok('GPU reset', methodsOf(gpus))];
  return findings;
};

function methodsOf(gpus: DoctorHost['gpus']): string {
  const methods = new Set(gpus.map(({ pci }) => pci.resetMethods.join(' ') || "the kernel's"));
  return [...methods].join('; ');
}

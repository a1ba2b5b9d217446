import { type Finding, fail, ok, warn } from '../../../base/finding.ts';
import type { CheckedHost, InventoryDevice, KindCheck } from '../kind-driver.ts';
import { checkNvlink } from './check-nvlink.ts';
import { checkPeers } from './check-peers.ts';
import type { NvlinkPair } from './nvlink-pairs.ts';

type Checked = {
  vendorIds: readonly string[];
  /** Undefined: the operator has stated nothing about bridges. */
  nvlinkPairs: readonly NvlinkPair[] | undefined;
};

export function gpuChecks({ vendorIds, nvlinkPairs }: Checked): readonly KindCheck[] {
  return [
    ['GPUs', (host) => checkGpus(host, vendorIds)],
    ['GPU support', checkSupport],
    ['GPU drivers', checkGpuDrivers],
    ['GPU reset', checkResets],
    ['GPU peers', checkPeers],
    ['NVLink', (host) => checkNvlink(host, nvlinkPairs)],
  ];
}

const gpusOf = ({ devices }: CheckedHost) => devices.filter(({ kind }) => kind === 'gpu');

/** These drivers do not use a card, so that it can be assigned to a VM at any time. */
const IDLE_DRIVERS = new Set(['', 'vfio-pci', 'pci-stub']);

export async function checkGpus(
  host: CheckedHost,
  vendorIds: readonly string[],
): Promise<Finding[]> {
  const gpus = gpusOf(host);
  if (gpus.length > 0) return [ok('GPUs', countByModel(gpus))];
  const advice = 'see that lspci shows the cards; GANTRY_GPU_VENDORS names their vendors';
  return [warn('GPUs', `none of the vendors ${vendorIds.join(', ')}`, advice)];
}

function countByModel(devices: readonly InventoryDevice[]): string {
  const counts = new Map<string, number>();
  for (const { name, vendorId, deviceId } of devices) {
    const model = name === '' ? `${vendorId}:${deviceId}` : name;
    counts.set(model, (counts.get(model) ?? 0) + 1);
  }
  return [...counts].map(([model, count]) => `${count} x ${model}`).join(', ');
}

/** These cards stay in the inventory, and no VM gets them. */
export async function checkSupport(host: CheckedHost): Promise<Finding[]> {
  return gpusOf(host).flatMap(({ address, attributes: { unsupported } }) =>
    unsupported === undefined
      ? []
      : fail('GPU support', `${address} ${unsupported}`, 'use servers with PCIe cards for VMs'),
  );
}

/**
 * The agent unbinds a card from its driver; a driver that serves a screen or a job does not release
 * it.
 */
export async function checkGpuDrivers(host: CheckedHost): Promise<Finding[]> {
  const gpus = gpusOf(host);
  const drivers = new Map<string, string[]>();
  for (const { driver, address } of gpus) {
    if (IDLE_DRIVERS.has(driver)) continue;
    drivers.set(driver, [...(drivers.get(driver) ?? []), address]);
  }
  if (gpus.length > 0 && drivers.size === 0) return [ok('GPU drivers', 'none of the host')];
  return [...drivers].map(([driver, addresses]) =>
    warn(
      'GPU drivers',
      `the host's driver ${driver} has ${addresses.join(', ')}`,
      `add modprobe.blacklist=${blacklistOf(driver)} to the kernel command line`,
    ),
  );
}

function blacklistOf(driver: string): string {
  return driver === 'nvidia' ? 'nouveau,nvidia,nvidia_drm,nvidia_modeset' : driver;
}

/** A card without a reset method cannot be cleaned after a VM, and is then never assigned again. */
export async function checkResets(host: CheckedHost): Promise<Finding[]> {
  const gpus = gpusOf(host);
  const findings: Finding[] = [];
  for (const { address, lost, resetMethods, functions } of gpus) {
    // Kernels before 5.15 do not list the methods, and show only whether there is one.
    const hasAny = await host.sysfs.exists(`bus/pci/devices/${address}/reset`);
    if (lost || resetMethods.length > 0 || hasAny) continue;
    const found = `${address} has no reset of its own`;
    findings.push(
      functions.length > 1
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
}

function methodsOf(gpus: readonly InventoryDevice[]): string {
  const methods = new Set(gpus.map(({ resetMethods }) => resetMethods.join(' ') || "the kernel's"));
  return [...methods].join('; ');
}

import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';
import { claimIdleCards } from '../../pci/claim-idle-cards.ts';
import { cleanByReset } from '../../pci/clean-by-reset.ts';
import { inventoryDevice, type KindDriver } from '../kind-driver.ts';
import { gpuChecks } from './check-gpus.ts';
import { hasNvswitch, NEEDS_FABRIC_MANAGER, needsFabricManager } from './fabric.ts';
import { joinPairs, type NvlinkPair, parseNvlinkPairs } from './nvlink-pairs.ts';
import { DISPLAY_CLASS, readGpuDevices } from './read-gpus.ts';
import { type VendorWarnings, vendorWarningsReader } from './vendor-warnings.ts';

export type GpuSettings = {
  /** Vendors whose display controllers are GPUs for VMs: four hex digits each. */
  vendorIds: readonly string[];
  nvlinkPairs?: readonly NvlinkPair[];
  /** Absent: the vendor's tool is not run. */
  vendorWarnings?: VendorWarnings;
};

/** Graphics cards: passed through with all their functions, and reset after a VM. */
export function gpuKind(settings: GpuSettings): KindDriver {
  const { vendorIds, nvlinkPairs = [], vendorWarnings } = settings;
  return {
    kind: 'gpu',
    pciClass: DISPLAY_CLASS,
    groupsWhole: true,

    async read({ sysfs, names, warn }) {
      const cards = await readGpuDevices(sysfs, vendorIds, names);
      const warnings = await vendorWarnings?.(cards);
      const isBesideNvswitch = await hasNvswitch(sysfs);
      return joinPairs(cards, nvlinkPairs, warn).map(({ pci, nvlinkPeer }) =>
        inventoryDevice('gpu', pci, {
          warnings: warnings?.get(pci.address) ?? [],
          attributes: {
            ...(nvlinkPeer !== '' && { nvlink_peer: nvlinkPeer }),
            ...(needsFabricManager(pci, isBesideNvswitch) && { unsupported: NEEDS_FABRIC_MANAGER }),
          },
        }),
      );
    },

    async prepare(host) {
      const cards = await readGpuDevices(host.sysfs, vendorIds);
      await claimIdleCards(
        host,
        cards.map(({ address }) => address),
      );
    },

    clean: cleanByReset,
    checks: gpuChecks(vendorIds),
  };
}

export function readGpuSettings(reader: SettingsReader): GpuSettings {
  // NVIDIA and AMD.
  const vendors = reader.text('GANTRY_GPU_VENDORS', '10de,1002');
  return {
    vendorIds: vendors.split(',').map((id) => id.trim().toLowerCase()),
    nvlinkPairs: readNvlinkPairs(reader),
    vendorWarnings: vendorWarningsReader(),
  };
}

function readNvlinkPairs(reader: SettingsReader): NvlinkPair[] {
  const text = reader.optional('GANTRY_NVLINK_PAIRS');
  if (text === undefined) return [];
  try {
    return parseNvlinkPairs(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingsError(`GANTRY_NVLINK_PAIRS: ${reason}`, { cause: error });
  }
}

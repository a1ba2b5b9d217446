import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';
import { claimIdleCards } from '../../pci/claim-idle-cards.ts';
import { cleanByReset } from '../../pci/clean-by-reset.ts';
import { inventoryDevice, type KindDriver } from '../kind-driver.ts';
import { gpuChecks } from './check-gpus.ts';
import { cleanMemory, type GpuCleaner } from './clean-memory.ts';
import { hasNvswitch, NEEDS_FABRIC_MANAGER, needsFabricManager } from './fabric.ts';
import { gpuFiles } from './gpu-files.ts';
import { type PeerScope, peersOf, readPeerScope } from './gpu-peers.ts';
import { joinPairs, type NvlinkPair, parseNvlinkPairs } from './nvlink-pairs.ts';
import { DISPLAY_CLASS, readGpuDevices } from './read-gpus.ts';
import { type VendorReports, vendorReportsReader } from './vendor-warnings.ts';

export type GpuSettings = {
  /** Vendors whose display controllers are GPUs for VMs: four hex digits each. */
  vendorIds: readonly string[];
  /** Absent: the operator has stated nothing about bridges. */
  nvlinkPairs?: readonly NvlinkPair[] | undefined;
  /** Absent: the memory of cards is not cleaned. */
  cleaner?: GpuCleaner | undefined;
  /** Absent: GPUs below one switch. */
  peerScope?: PeerScope;
  /** Absent: the vendor's tool is not run. */
  vendorReports?: VendorReports;
};

/** Graphics cards: passed through with all their functions, and reset after a VM. */
export function gpuKind(settings: GpuSettings): KindDriver {
  const { vendorIds, nvlinkPairs, vendorReports, cleaner, peerScope = 'switch' } = settings;
  return {
    kind: 'gpu',
    pciClass: DISPLAY_CLASS,
    groupsWhole: true,

    async read({ sysfs, names, warn }) {
      const cards = await readGpuDevices(sysfs, vendorIds, names);
      const reports = await vendorReports?.(cards);
      const isBesideNvswitch = await hasNvswitch(sysfs);
      return joinPairs(cards, nvlinkPairs ?? [], warn).map(({ pci, nvlinkPeer }) =>
        inventoryDevice('gpu', pci, {
          warnings: reports?.get(pci.address)?.warnings ?? [],
          health: reports?.get(pci.address)?.readings ?? {},
          attributes: {
            ...(nvlinkPeer !== '' && { nvlink_bridge: nvlinkPeer }),
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

    peersOf: (device) => peersOf(device, peerScope),
    filesOf: gpuFiles,
    clean: (host, device) =>
      cleanByReset(host, device, (outcome) => cleanMemory(host, device, { cleaner, outcome })),
    checks: gpuChecks({ vendorIds, nvlinkPairs }),
  };
}

export function readGpuSettings(reader: SettingsReader): GpuSettings {
  // NVIDIA and AMD.
  const vendors = reader.text('GANTRY_GPU_VENDORS', '10de,1002');
  return {
    vendorIds: vendors.split(',').map((id) => id.trim().toLowerCase()),
    nvlinkPairs: readNvlinkPairs(reader),
    peerScope: readPeerScope(reader),
    vendorReports: vendorReportsReader(),
    cleaner: readCleaner(reader),
  };
}

const MODEL = /^[0-9a-f]{4}:[0-9a-f]{4}$/;

function readCleaner(reader: SettingsReader): GpuCleaner | undefined {
  const command = reader.optional('GANTRY_GPU_CLEANER');
  const required = reader.optional('GANTRY_GPU_CLEANER_REQUIRED');
  const range = { fallback: 600, min: 1, max: 86_400 };
  const timeoutMs = 1_000 * reader.integer('GANTRY_GPU_CLEANER_TIMEOUT_S', range);
  if (command === undefined) {
    if (required === undefined) return undefined;
    throw new SettingsError(
      'GANTRY_GPU_CLEANER_REQUIRED needs GANTRY_GPU_CLEANER, the program to run',
    );
  }
  if (!command.startsWith('/')) {
    throw new SettingsError(`GANTRY_GPU_CLEANER must be an absolute path, not "${command}"`);
  }
  if (required === 'all') return { command, timeoutMs, requiredFor: 'all' };
  const models = (required ?? '').split(',').map((model) => model.trim().toLowerCase());
  const requiredFor = models.filter((model) => model !== '');
  const wrong = requiredFor.find((model) => !MODEL.test(model));
  if (wrong === undefined) return { command, timeoutMs, requiredFor };
  throw new SettingsError(
    `GANTRY_GPU_CLEANER_REQUIRED must be all or PCI ids such as 10de:20b5, not "${wrong}"`,
  );
}

function readNvlinkPairs(reader: SettingsReader): NvlinkPair[] | undefined {
  const text = reader.optional('GANTRY_NVLINK_PAIRS');
  if (text === undefined) return undefined;
  try {
    return parseNvlinkPairs(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingsError(`GANTRY_NVLINK_PAIRS: ${reason}`, { cause: error });
  }
}

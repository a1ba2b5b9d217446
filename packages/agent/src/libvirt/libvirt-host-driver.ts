import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '@gantry/daemon/log';
import { systemClock } from '../base/clock.ts';
import { programRunner } from '../base/run-program.ts';
import { Sysfs } from '../base/sysfs.ts';
import { type HostDevices, openDevices } from '../devices/open-devices.ts';
import { statesOfDevices } from '../devices/states-of-devices.ts';
import type { HostDriver } from '../host-driver.ts';
import { openImageCache } from '../images/image-cache.ts';
import { readInventory } from '../inventory/inventory.ts';
import type { ImageTransfers } from '../link/image-transfers.ts';
import { createHostNetwork, type KernelNetwork } from '../network/host-network.ts';
import { chooseNameServers } from '../network/name-servers.ts';
import { createSeeds } from '../seed/iso-seeds.ts';
import { listBackingImages } from '../volumes/backing-images.ts';
import { ShareMounts } from '../volumes/cephfs/share-mounts.ts';
import { createVolumes } from '../volumes/create-volumes.ts';
import {
  CEPH_CONF_FILE,
  kernelSourceAddress,
  namespaceSourceAddress,
  type StorageNetwork,
} from '../volumes/storage-network.ts';
import { readStoragePools } from '../volumes/storage-pools.ts';
import type { BlockDriver } from '../volumes/volume-driver.ts';
import { hasDirectIo } from './direct-io.ts';
import { DomainShares } from './domain-volumes/domain-shares.ts';
import { DomainVolumes } from './domain-volumes/domain-volumes.ts';
import { resumeWhenPossible } from './domain-volumes/resume-when-possible.ts';
import { domainDescriber } from './domain-xml/describe-domain.ts';
import { openLibvirt } from './domains/open-libvirt.ts';
import type { HostDriverSettings } from './host-driver-settings.ts';
import { LibvirtHypervisor } from './libvirt-hypervisor.ts';
import { chooseAccelerator, NO_ACCELERATOR_ADVICE } from './platform/choose-accelerator.ts';
import { keepFirmware } from './platform/keep-firmware.ts';
import { probeKvm } from './platform/kvm-probe.ts';
import { offersNesting } from './platform/nesting.ts';
import { detectPlatform } from './platform/platform.ts';
import { hasCliques } from './platform/qemu-version.ts';
import { readHostNodes } from './read-host-nodes.ts';
import { serialLogs } from './serial-log.ts';

/** Not below the directory of disks: who removes that must not remove the content of shared volumes. */
const SHARE_DIRECTORY = '/run/gantry-agent/shares';
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

export type LibvirtHostDriver = HostDriver &
  Pick<HostDevices, 'hideFromBoot'> & { close(): Promise<void> };

/**
 * Opens the driver of this host, which uses its libvirt daemon and its kernel. libvirt need not be
 * running.
 */
export async function openLibvirtHostDriver(
  settings: HostDriverSettings,
  log: Log,
  { openImage }: { openImage?: ImageTransfers['open'] } = {},
): Promise<LibvirtHostDriver> {
  const within = (name: string) => join(settings.dataDirectory, name);
  const nvramPath = (vmId: string) => within(`nvram/${vmId}.fd`);
  await mkdir(settings.dataDirectory, { recursive: true, mode: 0o711 });
  const { platform, vhostNet } = await choosePlatform(settings, log);
  const { libvirtSocket: socketPath } = settings.inventory;
  const logs = serialLogs(within('consoles'));
  await logs.prepare();
  const libvirt = openLibvirt({
    ...{ socketPath, log, clock: systemClock, serialLogDirectory: within('consoles') },
  });
  const { view } = libvirt;

  const mounts = new ShareMounts({
    directory: settings.shareDirectory ?? SHARE_DIRECTORY,
    run: programRunner('storage_failed'),
    netns: settings.netns,
  });
  const volumes = await openVolumes(settings, {
    ...{ log, mounts, openImage },
    isInUse: (diskId) => view.mayUseDisk(diskId),
  });
  const sysfs = new Sysfs(settings.inventory.sysfsRoot);
  const canNest = () => offersNesting(platform, { sysfs, proc: new Sysfs('/proc') });
  const { mtu } = settings.guests;
  const nameservers = chooseNameServers({
    configured: settings.guests.nameservers,
    uplink: settings.uplink,
    files: new Sysfs('/'),
  });
  const seeds = createSeeds({ directory: within('seeds'), nameservers, mtu });
  const warn = (message: string) => log.warn(message);
  const inventory = async () => ({
    ...(await readInventory({
      ...settings.inventory,
      ...statesOfDevices(devices),
      readStoragePools: () => readStoragePools(settings.storage, { warn }),
      offersNesting: canNest,
      warn,
    })),
    underlayIpv4: await readUnderlayAddress(network, log),
    storageIpv4: settings.storageAddress ?? '',
  });
  const { devices, hideFromBoot, ...ofCards } = await openDevices(
    { ...settings.inventory, ...settings.devices, dataDirectory: settings.dataDirectory },
    log,
  );
  const shares = new DomainShares({ ...libvirt, mounts, clock: systemClock, log });
  const domainVolumes = new DomainVolumes({ ...libvirt, shares, log });
  if (settings.storageAddress !== undefined) {
    libvirt.watch({
      ...{ domainChanged() {}, domainRecovered() {}, serialLogGrew() {} },
      reconnected: () => void domainVolumes.reconnected(),
    });
  }
  const stopWatching = shares.watch();
  const stopResuming = resumeWhenPossible({ ...libvirt, clock: systemClock, log });
  const hypervisor = new LibvirtHypervisor({
    ...libvirt,
    domainVolumes,
    ...{ clock: systemClock, volumes, serialLogs: logs },
    hugepagesAboveMib: settings.hugepagesAboveMib,
    ...domainDescriber({
      ...{ platform, vhostNet, volumes, mtu },
      directIo: await hasDirectIo(settings.dataDirectory),
      ...{ seedPath: seeds.path, nvramPath, serialLogPath: logs.path },
      ...ofCards,
      hasCliques: () => hasCliques(platform.emulator),
      offersNesting: canNest,
      // Stand-ins are near no memory, so a guest with stand-ins is not pinned to a node.
      numaNodes: settings.devices.standIns
        ? async () => []
        : () => readHostNodes(sysfs, settings.inventory.capacity),
      ...{ core: settings.inventory.capacity.core, log },
    }),
    devicesOf: async (vmId) => {
      const bound = (await devices.list()).filter((device) => device.vmId === vmId);
      return new Set(bound.map(({ address }) => address));
    },
    removeNvram: (vmId) => rm(nvramPath(vmId), { force: true }),
  });
  await mkdir(within('nvram'), { recursive: true, mode: 0o711 });

  const network = createHostNetwork({
    ...{ nameservers, mtu },
    reachableFromHost: settings.reachableFromHost,
    enforcesBandwidth: settings.inventory.enforcesBandwidth ?? false,
    log,
    ...(settings.uplink === undefined ? {} : { uplink: settings.uplink }),
    ...(settings.underlayAddress === undefined
      ? {}
      : { underlayAddress: settings.underlayAddress }),
    ...(settings.netns === undefined ? {} : { netns: settings.netns }),
  });

  return {
    readBootId: async () => (await readFile(BOOT_ID, 'utf8')).trim(),
    readInventory: inventory,
    ...{ hypervisor, volumes, snapshots: volumes.snapshots, devices, seeds, hideFromBoot },
    network,
    async close() {
      stopResuming();
      stopWatching();
      await network.close();
      await libvirt.close();
    },
  };
}

/** Throws if this host cannot run VMs. The agent then exits, and the host gets no VMs. */
async function choosePlatform({ dataDirectory, accelerator }: HostDriverSettings, log: Log) {
  const detection = await detectPlatform();
  if (!detection.found) {
    const missing = detection.missing.map(({ path, packageName }) => `${path} (${packageName})`);
    throw new Error(
      `this host lacks ${missing.join(', ')}: apt-get install gantry-agent installs it`,
    );
  }
  const { platforms, vhostNet } = detection;
  const { accel, reason } = await chooseAccelerator(accelerator, () =>
    probeKvm({
      platform: platforms.kvm,
      directory: dataDirectory,
      limitMs: accelerator.probeLimitMs,
    }),
  );
  if (accel === null) {
    throw new Error(`this host cannot run VMs: ${reason}. To fix it, ${NO_ACCELERATOR_ADVICE}`);
  }
  if (accel === 'kvm') log.info({ accelerator: accel, reason }, 'accelerator chosen');
  else log.warn({ accelerator: accel, reason }, 'VMs are emulated and slow');
  const firmware = await keepFirmware(platforms[accel].firmware, join(dataDirectory, 'firmware'));
  return { platform: { ...platforms[accel], firmware }, vhostNet };
}

/** A host that other hosts cannot reach is still useful. */
async function readUnderlayAddress(network: KernelNetwork, log: Log): Promise<string> {
  try {
    const address = await network.readUnderlayAddress();
    if (address !== null) return address;
    log.warn('no underlay address found; VMs on other hosts are not reachable');
  } catch (error) {
    log.warn({ error }, 'underlay address could not be read');
  }
  return '';
}

async function openVolumes(
  settings: HostDriverSettings,
  {
    log,
    mounts,
    isInUse,
    openImage,
  }: {
    log: Log;
    mounts: ShareMounts;
    isInUse: (diskId: string) => Promise<boolean>;
    openImage: ImageTransfers['open'] | undefined;
  },
): Promise<BlockDriver> {
  const { volumes, directory, sharedDirectory, reservePercent } = settings.storage;
  return createVolumes({
    ...(volumes.driver === 'file' ? { driver: 'file', directory } : volumes),
    ...{ sharedDirectory, reservePercent },
    images: await openImageCache({
      directory: join(settings.dataDirectory, 'images'),
      limitBytes: settings.imageCacheBytes,
      listUsed: () => listBackingImages(directory),
      openStored: openImage,
      log,
    }),
    isInUse,
    storageNetwork: storageNetworkOf(settings),
    shareMounts: mounts,
    log,
  });
}

function storageNetworkOf(settings: HostDriverSettings): StorageNetwork | null {
  const { storageAddress, netns, cephConfFile = CEPH_CONF_FILE } = settings;
  if (storageAddress === undefined) return null;
  return {
    address: storageAddress,
    confFile: cephConfFile,
    sourceAddressTo: netns === undefined ? kernelSourceAddress : namespaceSourceAddress(netns),
  };
}

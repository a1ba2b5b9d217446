import { constants } from 'node:fs';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '@gantry/daemon/log';
import { type Client, createClient } from 'node-libvirt/client';
import { connect } from 'node-libvirt/connect';
import type { Connection } from 'node-libvirt/connection';
import { openConsole } from 'node-libvirt/console';
import { HostFailure } from '../base/failure.ts';
import { Sysfs } from '../base/sysfs.ts';
import { isAssignedToVm } from '../devices/is-assigned-to-vm.ts';
import { type HostDevices, openDevices } from '../devices/open-devices.ts';
import type { HostDriver } from '../host-driver.ts';
import { openImageCache } from '../images/image-cache.ts';
import { readInventory } from '../inventory/inventory.ts';
import { createHostNetwork, type KernelNetwork } from '../network/host-network.ts';
import { chooseNameServers } from '../network/name-servers.ts';
import { createSeeds } from '../seed/iso-seeds.ts';
import { listBackingImages } from '../volumes/backing-images.ts';
import { createVolumes } from '../volumes/create-volumes.ts';
import type { VolumeDriver } from '../volumes/volume-driver.ts';
import { domainDescriber } from './domain-xml/describe-domain.ts';
import type { HostDriverSettings } from './host-driver-settings.ts';
import { type FoundDomain, findDomains } from './libvirt-domains.ts';
import { LibvirtHypervisor } from './libvirt-hypervisor.ts';
import { chooseAccelerator, NO_ACCELERATOR_ADVICE } from './platform/choose-accelerator.ts';
import { keepFirmware } from './platform/keep-firmware.ts';
import { probeKvm } from './platform/kvm-probe.ts';
import { offersNesting } from './platform/nesting.ts';
import { detectPlatform } from './platform/platform.ts';
import { readHostNodes } from './read-host-nodes.ts';
import { serialLogs } from './serial-log.ts';
import { watchDomains } from './watch-domains.ts';

const BOOT_ID = '/proc/sys/kernel/random/boot_id';
/** A daemon that is restarted is back within this time; otherwise the call fails. */
const PATIENCE_MS = 10_000;
const PAUSE_MS = 200;
/** No call on a host takes longer, except a start, which has its own limit. */
const CALL_LIMIT_MS = 30_000;

/** Without a keepalive, a daemon that hangs would keep a dead console open. */
const CONSOLE_KEEPALIVE = { intervalMs: 5_000, count: 3 };

export type LibvirtHostDriver = HostDriver &
  Pick<HostDevices, 'hideFromBoot'> & { close(): Promise<void> };

/**
 * Opens the driver of this host, which uses its libvirt daemon and its kernel. libvirt need not be
 * running.
 */
export async function openLibvirtHostDriver(
  settings: HostDriverSettings,
  log: Log,
): Promise<LibvirtHostDriver> {
  const within = (name: string) => join(settings.dataDirectory, name);
  const nvramPath = (vmId: string) => within(`nvram/${vmId}.fd`);
  await mkdir(settings.dataDirectory, { recursive: true, mode: 0o711 });
  const { platform, vhostNet } = await choosePlatform(settings, log);
  const { libvirtSocket: socketPath } = settings.inventory;
  const client = createClient({ socketPath, callTimeoutMs: CALL_LIMIT_MS });
  const logs = serialLogs(within('consoles'));
  await logs.prepare();
  const watching = watchDomains({ client, log, serialLogDirectory: within('consoles') });
  // Started now; the client keeps trying.
  client.connection().catch((error: unknown) => log.warn({ error }, 'libvirt does not reply yet'));
  const connection = () => patiently(client);

  const volumes = await openVolumes(settings, { log, connection });
  const sysfs = new Sysfs(settings.inventory.sysfsRoot);
  const { mtu } = settings.guests;
  const nameservers = chooseNameServers({
    configured: settings.guests.nameservers,
    uplink: settings.uplink,
    files: new Sysfs('/'),
  });
  const seeds = createSeeds({ directory: within('seeds'), nameservers, mtu });
  const inventory = async () => ({
    ...(await readInventory({
      ...settings.inventory,
      isAssigned: isAssignedToVm(devices),
      warn: (message) => log.warn(message),
    })),
    underlayIpv4: await readUnderlayAddress(network, log),
  });
  const { devices, hideFromBoot, ...ofCards } = await openDevices(
    { ...settings.inventory, ...settings.devices, dataDirectory: settings.dataDirectory },
    log,
  );
  const hypervisor = new LibvirtHypervisor({
    ...{ connection, volumes, serialLogs: logs, watch: watching.watch },
    ...domainDescriber({
      ...{ platform, vhostNet, volumes, mtu },
      directIo: await hasDirectIo(settings.dataDirectory),
      ...{ seedPath: seeds.path, nvramPath, serialLogPath: logs.path },
      ...ofCards,
      offersNesting: () => offersNesting(platform, sysfs),
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
    openConsole: (domain) => openOwnConsole(socketPath, domain),
  });
  await mkdir(within('nvram'), { recursive: true, mode: 0o711 });

  const network = createHostNetwork({
    ...{ nameservers, mtu },
    reachableFromHost: settings.reachableFromHost,
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
    ...{ hypervisor, volumes, devices, seeds, hideFromBoot },
    network,
    async close() {
      watching.stop();
      await network.close();
      await client.close();
    },
  };
}

/** Throws if this host cannot run VMs. The agent then exits, and the host gets no VMs. */
async function choosePlatform({ dataDirectory, accelerator }: HostDriverSettings, log: Log) {
  const detection = await detectPlatform();
  if (!detection.found) {
    const missing = detection.missing.map(({ path, packageName }) => `${path} (${packageName})`);
    throw new Error(`this host lacks ${missing.join(', ')}: deploy/prepare-host.sh installs it`);
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
  { log, connection }: { log: Log; connection: () => Promise<Connection> },
): Promise<VolumeDriver> {
  const directory = join(settings.dataDirectory, 'volumes');
  return createVolumes({
    ...(settings.volumes.driver === 'file' ? { driver: 'file', directory } : settings.volumes),
    sharedDirectory: settings.sharedDirectory,
    reservePercent: settings.storageReservePercent,
    images: await openImageCache({
      directory: join(settings.dataDirectory, 'images'),
      limitBytes: settings.imageCacheBytes,
      listUsed: () => listBackingImages(directory),
      log,
    }),
    isInUse: async (diskId) => {
      const domains = await findDomains(await connection());
      return domains.some(
        ({ state, facts }) =>
          state === 'running' &&
          [...facts.disks, ...facts.filesystems].some(({ id }) => id === diskId),
      );
    },
  });
}

/**
 * Waits for a restart of the daemon: its domains keep running, and a step need not fail because of
 * it.
 */
async function patiently(client: Client): Promise<Connection> {
  const untilMs = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await client.connection();
    } catch (error) {
      if (performance.now() > untilMs) {
        const reason = error instanceof Error ? error.message : String(error);
        const message = `libvirt does not reply: ${reason}`;
        throw new HostFailure('host_failed', message, { cause: error });
      }
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

/** Uses its own connection, so that a slow reader does not delay other calls. */
async function openOwnConsole(socketPath: string, { handle }: FoundDomain) {
  const keepalive = CONSOLE_KEEPALIVE;
  const connection = await connect({ socketPath, callTimeoutMs: CALL_LIMIT_MS, keepalive });
  try {
    const stream = await openConsole(connection, handle, { force: true });
    stream.once('close', () => void connection.close());
    return stream;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** Some file systems, for example tmpfs, do not support direct I/O. */
async function hasDirectIo(directory: string): Promise<boolean> {
  const file = join(directory, '.direct-io');
  try {
    const flags = constants.O_CREAT | constants.O_RDWR | constants.O_DIRECT;
    await (await open(file, flags, 0o600)).close();
    return true;
  } catch {
    return false;
  } finally {
    await rm(file, { force: true });
  }
}

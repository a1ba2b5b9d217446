import { X509Certificate } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import { connect } from 'node:net';
import { networkInterfaces, release, totalmem } from 'node:os';
import type { SettingsReader } from '@gantry/daemon/settings';
import { nearestDirectory } from '../base/nearest-directory.ts';
import { programRunner } from '../base/run-program.ts';
import { Sysfs } from '../base/sysfs.ts';
import { readDevices } from '../devices/read-devices.ts';
import { askNameServer } from '../doctor/ask-name-server.ts';
import type { DoctorHost } from '../doctor/doctor-host.ts';
import { splitAddress } from '../identity/learn-authority.ts';
import { loadIdentity } from '../identity/state-files.ts';
import { readLibvirtVersion } from '../inventory/libvirt-version.ts';
import { readNumaNodes } from '../inventory/numa-nodes.ts';
import { spreadMemory } from '../inventory/spread-memory.ts';
import { readHostDriverSettings } from '../libvirt/host-driver-settings.ts';
import { probeKvm } from '../libvirt/platform/kvm-probe.ts';
import { startProbeVm } from '../libvirt/probe/probe-vm.ts';
import { chooseNameServers } from '../network/name-servers.ts';
import { listUnlimited } from '../volumes/shared/list-unlimited.ts';
import { readQuotaMount } from '../volumes/shared/quota-mount.ts';
import { readSchedulers, readStateDirectory } from './agent-settings.ts';

const PROGRAM_LIMIT_MS = 10_000;
const CONNECT_LIMIT_MS = 5_000;

/** Returns this machine, with the settings that the agent would use. */
export async function readDoctorHost(reader: SettingsReader): Promise<DoctorHost> {
  const driver = readHostDriverSettings(reader);
  const { inventory } = driver;
  const stateDirectory = readStateDirectory(reader);
  const sysfs = new Sysfs(inventory.sysfsRoot);
  const run = programRunner('host_failed');
  const silent = () => undefined;
  let probing: ReturnType<typeof probeKvm> | undefined;
  return {
    architecture: process.arch,
    kernel: release(),
    userId: process.getuid?.() ?? -1,
    ...{ files: new Sysfs('/'), filesRoot: '/', sysfs },
    kinds: inventory.kinds,
    devices: await readDevices({ ...inventory, warn: silent }),
    numaNodes: spreadMemory(await readNumaNodes(sysfs), totalmem(), silent),
    settings: {
      capacity: inventory.capacity,
      standIns: driver.devices.standIns,
      accelerator: driver.accelerator,
      uplink: driver.uplink,
      storageAddress: driver.storageAddress,
      enforcesBandwidth: inventory.enforcesBandwidth ?? false,
      dataDirectory: driver.dataDirectory,
      sharedDirectory: driver.storage.sharedDirectory,
      stateDirectory,
      libvirtSocket: inventory.libvirtSocket,
      schedulers: reader.optional('GANTRY_SCHEDULERS') ? readSchedulers(reader) : [],
    },
    run: (program, args) => run(program, args, { timeoutMs: PROGRAM_LIMIT_MS }),
    // Two checks need the result, which one boot of the firmware gives.
    probeKvm: (platform, limitMs) => {
      probing ??= probeKvm({ platform, limitMs, directory: driver.dataDirectory, fresh: true });
      return probing;
    },
    startProbeVm: (platform) =>
      startProbeVm({
        platform,
        socketPath: inventory.libvirtSocket,
        dataDirectory: driver.dataDirectory,
        limitMs: driver.accelerator.probeLimitMs,
      }),
    readLibvirtVersion: () =>
      readLibvirtVersion({ libvirtSocket: inventory.libvirtSocket, warn: silent }),
    ...{ readSpace, readQuotaMount, listUnlimited },
    connect: tryToConnect,
    readAddresses: () =>
      Object.values(networkInterfaces()).flatMap((ours) =>
        (ours ?? []).map(({ address }) => address),
      ),
    readNameServers: chooseNameServers({
      configured: driver.guests.nameservers,
      uplink: driver.uplink,
      files: new Sysfs('/'),
    }),
    askNameServer,
    readCertificateEnd: async () => {
      const identity = await loadIdentity(stateDirectory);
      return identity ? new Date(new X509Certificate(identity.certificatePem).validTo) : null;
    },
    nowMs: Date.now,
  };
}

/** If a directory does not exist yet, the nearest existing directory above it counts. */
async function readSpace(path: string): Promise<{ freeBytes: number; totalBytes: number }> {
  const { bavail, blocks, bsize } = await statfs(await nearestDirectory(path));
  return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
}

function tryToConnect(address: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect({ ...splitAddress(address), timeout: CONNECT_LIMIT_MS });
    const end = (problem: string | null) => {
      socket.destroy();
      resolve(problem);
    };
    socket.once('connect', () => end(null));
    socket.once('error', (error) => end(error.message));
    socket.once('timeout', () => end(`no reply within ${CONNECT_LIMIT_MS / 1_000} s`));
  });
}

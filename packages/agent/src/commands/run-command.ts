import type { Log } from '@gantry/daemon/log';
import { Metrics } from '@gantry/daemon/metrics/metrics';
import { addProcessMetrics } from '@gantry/daemon/metrics/process-metrics';
import {
  type MetricsAddress,
  readMetricsAddress,
  serveMetrics,
} from '@gantry/daemon/metrics/serve-metrics';
import { SettingsError, type SettingsReader } from '@gantry/daemon/settings';
import {
  readTracingSettings,
  startTracing,
  type TracingSettings,
} from '@gantry/daemon/tracing/start-tracing';
import { loadFleet } from '@gantry/proto/load';
import { startAgent } from '../agent.ts';
import { bootHiding } from '../devices/boot-hiding.ts';
import { readDevices } from '../devices/read-devices.ts';
import { statesOfDevices } from '../devices/states-of-devices.ts';
import { watchDevices } from '../devices/watch-devices.ts';
import { channelCredentials, type Identity } from '../identity/identity.ts';
import { type Renewal, renewWhenDue } from '../identity/renew-when-due.ts';
import { loadIdentity } from '../identity/state-files.ts';
import { AGENT_VERSION } from '../inventory/version.ts';
import { ledgerFile } from '../ledger/ledger-file.ts';
import {
  type HostDriverSettings,
  readHostDriverSettings,
} from '../libvirt/host-driver-settings.ts';
import { openLibvirtHostDriver } from '../libvirt/libvirt-host-driver.ts';
import { grpcLink } from '../link/grpc-link.ts';
import { grpcTransfers } from '../link/image-transfers.ts';
import { roundRobin } from '../link/round-robin.ts';
import { addAgentMetrics } from '../metrics/agent-metrics.ts';
import { addDeviceMetrics } from '../metrics/device-metrics.ts';
import { addHostMetrics } from '../metrics/host-metrics.ts';
import { watchRules } from '../reconcile/watch-rules.ts';
import { aptPackages } from '../upgrade/apt-packages.ts';
import { readStoragePools } from '../volumes/storage-pools.ts';
import type { StorageSettings } from '../volumes/storage-settings.ts';
import { readSchedulers, readStateDirectory } from './agent-settings.ts';

export type RunSettings = {
  stateDirectory: string;
  schedulers: readonly string[];
  identity: Identity;
  driver: HostDriverSettings;
  metrics: MetricsAddress;
  tracing: TracingSettings;
};

const METRICS_PORT = 7482;

/** Reads and checks all settings before anything starts. */
export async function readRunSettings(reader: SettingsReader): Promise<RunSettings> {
  const stateDirectory = readStateDirectory(reader);
  const schedulers = readSchedulers(reader);
  const identity = await loadIdentity(stateDirectory);
  if (!identity) {
    throw new SettingsError(
      `GANTRY_STATE_DIRECTORY: no host was enrolled in ${stateDirectory}: run gantry-agent enroll`,
    );
  }
  return {
    ...{ stateDirectory, schedulers, identity },
    driver: readHostDriverSettings(reader),
    metrics: readMetricsAddress(reader, METRICS_PORT),
    tracing: readTracingSettings(reader),
  };
}

/** Runs the agent of this host until it is stopped. Its VMs keep running. */
export async function runHost(settings: RunSettings, log: Log) {
  const { stateDirectory, schedulers } = settings;
  let { identity } = settings;
  const fleet = loadFleet();
  const credentials = () => channelCredentials(identity);
  const transfers = grpcTransfers({ fleet, address: roundRobin(schedulers), credentials });
  const driver = await openLibvirtHostDriver(settings.driver, log, { openImage: transfers.open });
  const address = roundRobin(schedulers);
  const hiding = bootHiding(driver, log);
  let known: Awaited<ReturnType<typeof readDevices>> = [];
  const watching = await watchDevices({
    // Warnings are logged when the inventory is read, not at every scan.
    read: async () => {
      const devices = await readDevices({
        ...settings.driver.inventory,
        ...statesOfDevices(driver.devices),
        warn: () => undefined,
      });
      hiding.found(devices);
      known = devices;
      // Readings of GPUs change all the time, and are no reason to report the inventory again.
      return devices.map((device) => (device.kind === 'gpu' ? { ...device, health: {} } : device));
    },
    log,
  });
  // It is watched apart, because a cluster file system that hangs must not hide failures of devices.
  const watchingStorage = await watchDevices({
    read: () => readStorageSteps(settings.driver.storage),
    log,
  });
  let renewal: Renewal | undefined;
  let isAttached = false;
  const tracer = await startTracing(settings.tracing, { service: 'gantry-agent', log });
  const agent = await startAgent({
    ...{ driver, log, tracer, transfers },
    ledger: ledgerFile(stateDirectory),
    packages: aptPackages({ version: AGENT_VERSION, stateDirectory }),
    connect: grpcLink({
      ...{ fleet, log, address, credentials },
      onAttached: (now) => {
        isAttached = now;
      },
      onAuthorities: (sha256s) => renewal?.follow(sha256s),
    }),
  });
  for (const { onChange } of [watching, watchingStorage]) onChange(() => agent.inventoryChanged());
  const rules = watchRules(agent, log);
  renewal = renewWhenDue({
    ...{ identity, address, stateDirectory, log },
    onRenewed: (renewed) => {
      identity = renewed;
      agent.reattach();
    },
  });
  const metrics = new Metrics();
  addProcessMetrics(metrics);
  addAgentMetrics(metrics, {
    identity: () => identity,
    isAttached: () => isAttached,
    figures: () => agent.figures(),
  });
  const { sysfsRoot, procRoot = '/proc' } = settings.driver.inventory;
  const storage = () => readStoragePools(settings.driver.storage, { warn: () => undefined });
  addHostMetrics(metrics, { sysfsRoot, procRoot, readStoragePools: storage });
  addDeviceMetrics(metrics, () => known);
  const problem = () => (isAttached ? null : 'no scheduler has accepted the stream of this host');
  const serving = await serveMetrics({ metrics, log, ...settings.metrics, problem });
  return {
    ready: { host_id: identity.hostId, schedulers, metrics_port: serving.port() },
    async stop() {
      await serving.stop();
      watching.stop();
      watchingStorage.stop();
      await rules.stop();
      await renewal.stop();
      await agent.stop();
      await tracer?.stop();
      await driver.close();
    },
  };
}

/** The pools with their free space in percent, so that only a change of some size is reported. */
async function readStorageSteps(storage: StorageSettings) {
  const pools = await readStoragePools(storage, { warn: () => undefined });
  return pools.map(({ freeBytes, ...pool }) => ({
    ...pool,
    freePercent: Math.round((freeBytes / pool.sizeBytes) * 100),
  }));
}

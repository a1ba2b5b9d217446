import type { Clock } from '@gantry/agent/base/clock';
import type { Timings } from '@gantry/agent/base/timings';
import type { HostDriver } from '@gantry/agent/host-driver';
import { requestIdentity } from '@gantry/agent/identity/request-certificate';
import type { Connect } from '@gantry/agent/link/link';
import type { Log } from '@gantry/daemon/log';
import { readTrustedCertificates } from '@gantry/db/queries/hosts/fleet-authorities';
import { loadFleet } from '@gantry/proto/load';
import type { Scheduler } from '@gantry/scheduler/scheduler';
import type { Behaviour } from '@gantry/simulator/driver/behaviour';
import { DiskStore } from '@gantry/simulator/driver/disk-store';
import { SimulatedHostDriver } from '@gantry/simulator/driver/simulated-host-driver';
import { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';
import { SERVER_MODELS } from '@gantry/simulator/servers/server-models';
import { inventoryOfHost, simulatedInventory } from '@gantry/simulator/servers/simulated-inventory';
import type { UpgradeBehaviour } from '@gantry/simulator/upgrade/simulated-packages';
import { expect, vi } from 'vitest';
import type { TestApi } from '../api/test-api.ts';
import { MemoryLedger } from '../hosts/memory-ledger.ts';

export type HostOptions = {
  model?: string;
  location?: string;
  behaviour?: Partial<Behaviour>;
  /** Whether its disks can be reached from the other hosts with shared storage. */
  sharedStorage?: boolean;
  /** The number of GPUs, if not all of its model's. */
  gpus?: number;
  timings?: Partial<Timings>;
  /** The time of the agent, except for its link. */
  clock?: Clock;
  /** Returns what the agent drives, if not the simulated host alone. */
  drive?: (simulated: SimulatedHostDriver) => Promise<HostDriver>;
  heartbeatMs?: number;
  /** How orders to replace the agent end. */
  upgrades?: UpgradeBehaviour;
  /** Called with the authorities that the fleet trusts. */
  onAuthorities?: (sha256s: readonly string[]) => void;
  wrapLink?: (connect: Connect) => Connect;
};

type Surroundings = {
  api: TestApi;
  log: Log;
  operator: string;
  schedulers: readonly Scheduler[];
  hosts: SimulatedHost[];
};

const fleet = loadFleet();

/** Returns a function that enrols and starts a simulated host, and waits until it takes VMs. */
export function simulatedHosts({ api, log, operator, schedulers, hosts }: Surroundings) {
  const disks = new DiskStore();
  let enrolled = 0;

  /** The address of any running scheduler. A host whose scheduler has stopped finds another one. */
  const address = () => {
    const scheduler = schedulers[Math.floor(Math.random() * schedulers.length)];
    return `localhost:${scheduler?.port ?? 1}`;
  };

  const enrol = async ({ location, name }: { location: string; name: string }) => {
    const { body } = await api.call('POST', '/admin/join-tokens', {
      bearer: operator,
      body: { location },
    });
    return await requestIdentity({
      address: address(),
      token: body.token,
      hostname: name,
      caPem: await readTrustedCertificates(api.sql),
    });
  };

  return async ({
    model = 'a40-8',
    location = 'eu-north-a',
    behaviour = {},
    sharedStorage = true,
    gpus,
    timings = {},
    drive,
    ...link
  }: HostOptions = {}): Promise<SimulatedHost> => {
    const server = SERVER_MODELS.find(({ name }) => name === model);
    if (!server) throw new Error(`there is no server model ${model}`);
    enrolled += 1;
    const name = `host-${enrolled}`;
    const whole = inventoryOfHost(await simulatedInventory(server), name);
    const ofKind = (isGpu: boolean) =>
      whole.devices.filter(({ kind }) => (kind === 'gpu') === isGpu);
    const inventory = {
      ...whole,
      sharedStorage,
      devices: [...ofKind(true).slice(0, gpus), ...ofKind(false)],
      underlayIpv4: `198.18.${Math.floor(enrolled / 250)}.${(enrolled % 250) + 1}`,
    };
    const store = sharedStorage ? { disks } : {};
    const driver = new SimulatedHostDriver({ inventory, behaviour, ...store });
    const host = new SimulatedHost({
      fleet,
      log,
      address,
      timings,
      ...link,
      driver,
      ...(drive ? { agentDriver: await drive(driver) } : {}),
      ledger: new MemoryLedger(),
      identity: await enrol({ location, name }),
    });
    hosts.push(host);
    await host.start();
    const readGpus = () => api.sql`select from devices where kind = 'gpu' and host_id = ${host.id}`;
    await vi.waitFor(async () => expect(await readGpus()).not.toHaveLength(0), {
      timeout: 30_000,
    });
    return host;
  };
}

import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { enroll } from '@gantry/agent/identity/enroll';
import type { Identity } from '@gantry/agent/identity/identity';
import { type Renewal, renewWhenDue } from '@gantry/agent/identity/renew-when-due';
import { loadIdentity } from '@gantry/agent/identity/state-files';
import { AGENT_VERSION } from '@gantry/agent/inventory/version';
import { ledgerFile } from '@gantry/agent/ledger/ledger-file';
import { roundRobin } from '@gantry/agent/link/round-robin';
import type { Log } from '@gantry/daemon/log';
import { startTracing } from '@gantry/daemon/tracing/start-tracing';
import type { Tracer } from '@gantry/daemon/tracing/tracer';
import { type Fleet, loadFleet } from '@gantry/proto/load';
import { SimulatedHostDriver } from '../driver/simulated-host-driver.ts';
import { inventoryOfHost, simulatedInventory } from '../servers/simulated-inventory.ts';
import type { UpgradeBehaviour } from '../upgrade/simulated-packages.ts';
import { type ControlSocket, startControlSocket } from './control-socket.ts';
import type { FleetSettings, PlannedHost } from './fleet-settings.ts';
import { KeptDisks } from './kept-disks.ts';
import { createOperatorClient, type OperatorClient } from './operator-client.ts';
import { SimulatedHost } from './simulated-host.ts';

export type RunningFleet = {
  size: number;
  /** The control socket, or undefined if it is disabled. */
  controlSocket: string | undefined;
  stop(): Promise<void>;
};

type Member = { name: string; host: SimulatedHost; renewal: Renewal };
type Place = {
  settings: FleetSettings;
  log: Log;
  tracer: Tracer | null;
  fleet: Fleet;
  operator: OperatorClient;
  disks: Map<string, KeptDisks>;
};

/** The number of hosts that are enrolled and started concurrently. */
const CONCURRENCY = 16;
/** Documentation addresses, because simulated VMs cannot be reached. */
const PUBLIC_POOLS = ['203.0.113.0/24', '198.51.100.0/24', '192.0.2.0/24'];

/**
 * Any number of simulated hosts in one process, each with its own certificate, ledger and stream. A
 * fleet that restarts has the same hosts, as after a power cut.
 */
export async function startFleet(settings: FleetSettings, log: Log): Promise<RunningFleet> {
  const operator = await createOperatorClient(settings.api);
  const locations = [...new Set(settings.hosts.map(({ location }) => location))].sort();
  await operator.giveImagesSources();
  for (const location of locations) await operator.ensurePublicAddresses(location, PUBLIC_POOLS);
  const disks = new Map(
    locations.map((name) => [name, new KeptDisks(join(settings.directory, `${name}.disks.json`))]),
  );
  const tracer = await startTracing(settings.tracing, { service: 'gantry-agent', log });
  const place: Place = { settings, log, tracer, fleet: loadFleet(), operator, disks };
  const members: Member[] = [];
  const waiting = settings.hosts.values();
  const work = async () => {
    for (const planned of waiting) members.push(await startMember(place, planned));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  const control = settings.control ? await startControl(place, members) : undefined;
  return {
    size: members.length,
    controlSocket: control?.path,
    async stop() {
      await control?.stop();
      await Promise.all(members.map(({ renewal }) => renewal.stop()));
      await Promise.all(members.map(({ host }) => host.stop()));
      await tracer?.stop();
    },
  };
}

async function startMember(place: Place, planned: PlannedHost): Promise<Member> {
  const { settings, log, tracer, fleet, disks } = place;
  const stateDirectory = join(settings.directory, planned.name);
  const identity = await ensureIdentity(place, planned, stateDirectory);
  const store = disks.get(planned.location);
  const address = roundRobin(settings.schedulers);
  let renewal: Renewal | undefined;
  const host = new SimulatedHost({
    ...{ fleet, log, tracer, identity, address },
    onAuthorities: (sha256s) => renewal?.follow(sha256s),
    driver: new SimulatedHostDriver({
      inventory: {
        ...inventoryOfHost(await simulatedInventory(planned.model), planned.name),
        sharedStorage: true,
        storageIpv4: planned.storageIpv4,
      },
      behaviour: settings.behaviour,
      ...(store ? { disks: store } : {}),
    }),
    ledger: ledgerFile(stateDirectory),
    upgrades: upgradesOf(settings.upgrades, planned.name),
  });
  await host.start();
  const onRenewed = (renewed: Identity) => host.renewed(renewed);
  const spreadMs = settings.renewalSpreadMs;
  renewal = renewWhenDue({ identity, address, stateDirectory, log, onRenewed, spreadMs });
  return { name: planned.name, host, renewal };
}

/**
 * The share of hosts on which no other version runs than the one that the fleet started with. The name of a host
 * decides, so that it is the same at every start.
 */
function upgradesOf(
  { installMs, failurePercent }: FleetSettings['upgrades'],
  name: string,
): UpgradeBehaviour {
  const place = createHash('sha256').update(name).digest().readUInt32BE() / 2 ** 32;
  const isBad = place < failurePercent / 100;
  return {
    installMs,
    outcome: (version) => (isBad && version !== AGENT_VERSION ? 'stays-away' : 'works'),
  };
}

async function startControl({ settings, log }: Place, members: Member[]): Promise<ControlSocket> {
  const hosts = new Map(members.map(({ name, host }) => [name, host]));
  return await startControlSocket({ directory: settings.directory, hosts, log });
}

/** If the control plane does not know the host any more, it is enrolled as a new host. */
async function ensureIdentity(
  { operator, settings }: Place,
  { name, location }: PlannedHost,
  stateDirectory: string,
): Promise<Identity> {
  const known = await loadIdentity(stateDirectory);
  if (known && (await operator.hasHost(known.hostId))) return known;
  await rm(stateDirectory, { recursive: true, force: true });
  const { token, caFingerprint } = await operator.makeJoinToken(location);
  const address = roundRobin(settings.schedulers)();
  return await enroll({ address, token, caFingerprint, hostname: name, stateDirectory });
}

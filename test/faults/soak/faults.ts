import type { FaultMode, FaultProxy } from '@gantry/testkit/faults/fault-proxy';
import type { FaultyCloud, Member } from '@gantry/testkit/faults/faulty-cloud';
import { fillDisk } from '@gantry/testkit/faults/full-disk';
import { skewedBy } from '@gantry/testkit/faults/skewed-clock';
import { suspendProcess } from '@gantry/testkit/faults/suspend-process';
import type { Process } from '@gantry/testkit/processes/start-processes';
import type { Random } from './random.ts';

/**
 * Everything that is done to a cloud. `inject` begins a fault and returns what ends it. `group` is
 * the row of the table in docs/reliability.md.
 */
export type Fault = {
  group: string;
  name: string;
  /** How it is injected, for the table. */
  how: string;
  /** What it hits. Two faults at once hit different things, so that both can be injected. */
  target: 'api' | 'scheduler' | 'hosts' | 'link' | 'database';
  weight: number;
  /** Restarts processes already when it begins, so that no other fault may be in the way. */
  alone?: boolean;
  inject(cloud: FaultyCloud, random: Random): Promise<Heal>;
};
export type Heal = () => Promise<void>;

type Pick = (cloud: FaultyCloud, random: Random) => Member<Process>;

const anyApi: Pick = ({ apis }, random) => chosen(random.pick(apis));
const anyScheduler: Pick = ({ schedulers }, random) => chosen(random.pick(schedulers));
const anyFleet: Pick = ({ fleets }, random) => chosen(random.pick(fleets));
const KINDS: ['api' | 'scheduler' | 'hosts', Pick][] = [
  ['api', anyApi],
  ['scheduler', anyScheduler],
  ['hosts', anyFleet],
];
/** Far beyond every lifetime of a lease, heartbeat or token. */
const SKEW_S = 3_600;

const processFaults: Fault[] = KINDS.flatMap(([kind, pick]): Fault[] => [
  {
    target: kind,
    ...{ group: `${kind} killed`, name: `${kind} killed`, weight: 3, how: 'kill -9' },
    inject: async (cloud, random) => {
      const member = pick(cloud, random);
      await member.process.kill();
      return () => member.restart();
    },
  },
  {
    target: kind,
    ...{ group: `${kind} suspended`, name: `${kind} suspended`, weight: 3 },
    how: 'SIGSTOP, longer than the lease and the limit of reachability, then SIGCONT',
    inject: async (cloud, random) => {
      const resume = suspendProcess(pick(cloud, random).process.pid);
      return async () => resume();
    },
  },
  ...[SKEW_S, -SKEW_S].map((seconds) => ({
    target: kind,
    ...{ group: `clock of ${kind} wrong`, weight: 1, alone: true },
    name: `clock of ${kind} ${seconds > 0 ? 'ahead' : 'behind'}`,
    how: 'libfaketime or a shifted Date, one hour, from a restart on',
    inject: async (cloud: FaultyCloud, random: Random) => {
      const member = pick(cloud, random);
      await member.process.kill();
      await member.restart(skewedBy(seconds));
      return async () => {
        await member.process.kill();
        await member.restart();
      };
    },
  })),
]);

const MODES: [string, FaultMode][] = [
  ['cut', { is: 'cut' }],
  ['silent', { is: 'hole', direction: 'both' }],
  ['one-way', { is: 'hole', direction: 'to-target' }],
  ['one-way back', { is: 'hole', direction: 'from-target' }],
  ['half-open', { is: 'half-open' }],
  ['slow', { is: 'slow', delayMs: 40, bytesPerS: 50_000 }],
];
const HOW: Record<string, string> = {
  cut: 'TCP proxy resets connections and refuses new ones',
  silent: 'TCP proxy holds all bytes, connections stay open',
  'one-way': 'TCP proxy holds the bytes of the caller',
  'one-way back': 'TCP proxy holds the bytes of the called',
  'half-open': 'TCP proxy drops the connection of one side only',
  slow: 'TCP proxy delays each packet by 40 ms and passes 50 kB/s',
};
const LINKS: [string, (cloud: FaultyCloud, random: Random) => FaultProxy | undefined][] = [
  ['client–api', ({ apis }, random) => random.pick(apis)?.front],
  ['api–database', ({ apis }, random) => random.pick(apis)?.database],
  ['scheduler–database', ({ schedulers }, random) => random.pick(schedulers)?.database],
  ['host–scheduler', ({ fleets }, random) => random.pick(random.pick(fleets)?.toSchedulers ?? [])],
];

const linkFaults: Fault[] = LINKS.flatMap(([link, pick]) =>
  MODES.map(([mode, setting]) => ({
    target: 'link' as const,
    ...{ group: `link ${link} ${mode}`, name: `${link} ${mode}`, how: HOW[mode] ?? '', weight: 1 },
    inject: async (cloud: FaultyCloud, random: Random) => {
      const proxy = chosen(pick(cloud, random));
      proxy.set(setting);
      return async () => proxy.set({ is: 'pass' });
    },
  })),
);

const databaseFaults: Fault[] = [
  {
    target: 'database',
    ...{ group: 'PostgreSQL killed', name: 'PostgreSQL killed', weight: 3 },
    how: 'kill -9 of the postmaster, started again',
    inject: async ({ servers }) => {
      await servers.primary.kill();
      return () => servers.primary.start();
    },
  },
  {
    target: 'database',
    ...{ group: 'PostgreSQL restarted', name: 'PostgreSQL restarted', weight: 2 },
    how: 'fast shutdown, started again',
    inject: async ({ servers }) => {
      await servers.primary.stop();
      return () => servers.primary.start();
    },
  },
  {
    target: 'database',
    ...{ group: 'failover without loss', name: 'failover without loss', weight: 1, alone: true },
    how: 'links held until the replica has everything, primary killed, replica promoted',
    inject: async (cloud) => {
      const links = [...cloud.apis, ...cloud.schedulers].map(({ database }) => database);
      for (const link of links) link.set({ is: 'hole', direction: 'both' });
      await cloud.servers.caughtUp();
      await cloud.servers.failOver();
      for (const link of links) link.set({ is: 'pass' });
      return () => cloud.servers.addReplica();
    },
  },
];

const STEPS = [
  ...['define', 'start', 'reset', 'ask_shutdown', 'power_off', 'undefine', 'create_disk'],
  ...['attach_disk', 'detach_disk', 'bind_device', 'release_device', 'apply_firewall'],
  ...['ensure_interfaces', 'remove_interfaces', 'ensure_seed', 'remove_seed', 'list_domains'],
];

const hostFaults: Fault[] = [
  {
    target: 'hosts',
    ...{ group: 'agent killed', name: 'agent killed', weight: 4 },
    how: 'the agent of one host ends without notice, its VMs run on',
    inject: onHost(async (order) => {
      await order('kill-agent');
      return () => order('start-agent');
    }),
  },
  {
    target: 'hosts',
    ...{ group: 'host rebooted', name: 'host rebooted', weight: 2 },
    how: 'the VMs, the network and the agent of one host end without notice',
    inject: onHost(async (order) => {
      await order('power-off');
      return () => order('start-agent');
    }),
  },
  {
    target: 'hosts',
    ...{ group: 'step of a host fails', name: 'step of a host fails', weight: 3 },
    how: 'the next three calls of a step of the host driver fail',
    inject: onHost(async (order, random) => {
      await order('fail', { step: random.pick(STEPS), times: 3 });
      return () => order('clear-faults');
    }),
  },
  {
    target: 'hosts',
    ...{ group: 'step of a host hangs', name: 'step of a host hangs', weight: 3 },
    how: 'calls of a step of the host driver do not return until the end of the fault',
    inject: onHost(async (order, random) => {
      await order('hang', { step: random.pick(STEPS) });
      return () => order('clear-faults');
    }),
  },
  {
    target: 'hosts',
    ...{ group: 'disk of hosts full', name: 'disk of hosts full', weight: 2 },
    how: 'every write to a file fails (RLIMIT_FSIZE)',
    inject: async (cloud, random) => await fillDisk(anyFleet(cloud, random).process.pid),
  },
];

type Order = (verb: string, body?: object) => Promise<void>;

function onHost(run: (order: Order, random: Random) => Promise<Heal>): Fault['inject'] {
  return async ({ fleets }, random) => {
    const { process } = chosen(random.pick(fleets));
    const { name } = chosen(random.pick(await process.hosts()));
    return await run((verb, body) => process.order(name, verb, body), random);
  };
}

function chosen<T>(item: T | undefined): T {
  if (item === undefined) throw new Error('BUG: there is nothing to choose from');
  return item;
}

/** In the order in which they are healed: a process that starts needs its links and the database. */
export const FAULTS: readonly Fault[] = [
  ...linkFaults,
  ...databaseFaults,
  ...processFaults,
  ...hostFaults,
];

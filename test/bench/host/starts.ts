import { randomUUID } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import type { VmSpec } from '@gantry/agent/spec';
import {
  makeDisk,
  makeInterface,
  makeSpec,
  makeTakeDown,
  makeVm,
} from '@gantry/agent/testing/make-spec';
import { buildTinyGuest } from '@gantry/local/guest/build-tiny-guest';
import { tinyGuestDirectory } from '@gantry/testkit/real-host/guest/tiny-guest-directory';
import { type LibvirtHost, startLibvirtHost } from '@gantry/testkit/real-host/host';
import { writeStandIns } from '@gantry/testkit/real-host/stand-ins';
import { connect } from 'node-libvirt/connect';
import { START } from 'node-libvirt/flags';
import {
  domainCreateWithFlags,
  domainDestroyFlags,
  domainLookupByName,
} from 'node-libvirt/generated/procedures';
import { row } from '../fleet/table.ts';
import { median } from '../median.ts';
import type { AgentReply } from './agent.ts';
import { type HostAgent, startHostAgent } from './process.ts';
import { openVirsh } from './virsh.ts';

/**
 * Measures the time from a spec with one VM, whose image is in the cache, to the report that it
 * runs. The time of libvirt is QEMU's own start; the rest is the agent's. Afterwards libvirt starts
 * the same domain again, once over the protocol and once with virsh, with fresh firmware variables.
 */
type StartsOptions = { rounds: number; signal: AbortSignal };

const GOAL_MS = 150;

type Round = { up: AgentReply; down: AgentReply; libvirtMs: number; virshMs: number };

export async function measureStarts({ rounds, signal }: StartsOptions): Promise<void> {
  const host = await startLibvirtHost('starts');
  try {
    const sysfsRoot = await writeStandIns(host.directory);
    const agent = await startHostAgent(host, { GANTRY_SYSFS_ROOT: sysfsRoot });
    try {
      const guest = await buildTinyGuest({ directory: tinyGuestDirectory });
      const image = { url: pathToFileURL(guest.path).href, sha256: guest.sha256 };
      const measured: Round[] = [];
      for (let round = 0; round <= rounds; round += 1) {
        signal.throwIfAborted();
        const one = await measureRound(host, agent, { round, image });
        // The first round downloads the image.
        if (round > 0) measured.push(one);
      }
      print(measured);
    } finally {
      await agent.stop();
    }
  } finally {
    await host.stop();
  }
}

type Order = { round: number; image: { url: string; sha256: string } };

async function measureRound(host: LibvirtHost, agent: HostAgent, order: Order): Promise<Round> {
  const vm = wantedVm(agent, order);
  const [first, second] = [order.round * 2 + 1, order.round * 2 + 2];
  const running = { vmId: vm.id, revision: '1', state: 'RUNNING' };
  const up = await agent.order({ ...running, spec: makeSpec(first, { vms: [vm] }) });
  const { libvirtMs, virshMs } = await startAgain(host, agent, vm.id);
  const takeDown = makeTakeDown(vm.id, {
    ...{ graceful: false, devices: vm.devices, disks: vm.disks.map(({ id }) => id) },
  });
  const gone = { vmId: vm.id, revision: '2', state: 'TAKEN_DOWN' };
  const down = await agent.order({ ...gone, spec: makeSpec(second, { takeDowns: [takeDown] }) });
  return { up, down, libvirtMs, virshMs };
}

function wantedVm({ gpu }: HostAgent, { round, image }: Order): VmSpec {
  const id = randomUUID();
  return makeVm(id, {
    ...{
      name: `bench-${round}`,
      cpuCores: 1,
      memoryMib: 256,
      devices: [{ kind: 'gpu', address: gpu }],
    },
    disks: [makeDisk(randomUUID())],
    interfaces: [makeInterface(randomUUID(), { networkId: 'network-1' })],
    image: { name: 'tiny', id: '', ...image },
  });
}

/** The agent reports a crash and does nothing about it. */
async function startAgain(host: LibvirtHost, agent: HostAgent, vmId: string) {
  const { socketPath } = host.libvirtd;
  const connection = await connect({ socketPath });
  const virsh = await openVirsh(socketPath);
  try {
    const name = `gantry-${vmId}`;
    const { dom } = await connection.call(domainLookupByName, { name });
    const end = async () => {
      await connection.call(domainDestroyFlags, { dom, flags: 0 });
      await agent.order({ vmId, revision: '1', state: 'CRASHED', spec: null });
    };
    await end();
    const create = { dom, flags: START.resetNvram };
    const libvirtMs = await timeOf(() => connection.call(domainCreateWithFlags, create));
    await end();
    const virshMs = await timeOf(() => virsh.run([`start --reset-nvram ${name}`]));
    return { libvirtMs, virshMs };
  } finally {
    await virsh.close();
    await connection.close();
  }
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

function print(rounds: Round[]): void {
  const of = (value: (round: Round) => number) => rounds.map(value);
  const own = of(ownMs);
  row('spec to report of a running VM', median(of(({ up }) => up.tookMs)), 'ms');
  row("  of that libvirt's start", median(of(create)), 'ms');
  row("beyond libvirt's start", median(own), 'ms', { most: GOAL_MS });
  row('  the least of the rounds', Math.min(...own), 'ms');
  row('  the most', Math.max(...own), 'ms');
  row('the same start again, by node-libvirt', median(of(({ libvirtMs }) => libvirtMs)), 'ms');
  row('the same start again, by virsh', median(of(({ virshMs }) => virshMs)), 'ms');
  row("the agent's CPU per VM brought up", median(of(({ up }) => up.cpuMs)), 'ms');
  row('CPU of programs it ran for that', mean(of(({ up }) => up.childrenCpuMs)), 'ms');
  console.log(`programs it ran for that: ${programs(rounds)}`);
  row('spec to report of a VM removed', median(of(({ down }) => down.tookMs)), 'ms');
  row("the agent's CPU per VM removed", median(of(({ down }) => down.cpuMs)), 'ms');
  row('CPU of programs it ran for that', mean(of(({ down }) => down.childrenCpuMs)), 'ms');
  printParts(rounds);
}

/**
 * Some calls run concurrently, and a call of the host driver includes the libvirt calls that it
 * makes.
 */
function printParts(rounds: Round[]): void {
  console.log('time within calls on the way up, all of a name together (they overlap)');
  const names = new Set(rounds.flatMap(({ up }) => up.timings.map(({ name }) => name)));
  const spent = [...names].map((name) => {
    const own = rounds.map(({ up }) => up.timings.filter((timing) => timing.name === name));
    const sums = own.map((timings) => timings.reduce((sum, { tookMs }) => sum + tookMs, 0));
    return { name, ms: median(sums), count: median(own.map(({ length }) => length)) };
  });
  for (const { name, ms, count } of spent.toSorted((a, b) => b.ms - a.ms)) {
    row(`  ${name} × ${count}`, ms, 'ms');
  }
}

function create({ up }: Round): number {
  return (
    up.timings.find(({ name }) => name === `libvirt.${domainCreateWithFlags.name}`)?.tookMs ??
    Number.NaN
  );
}

function ownMs(round: Round): number {
  return round.up.tookMs - create(round);
}

function programs(rounds: Round[]): string {
  const last = rounds.at(-1)?.up.programs ?? {};
  const counts = Object.entries(last).map(([program, count]) => `${program} × ${count}`);
  return counts.join(', ') || 'none';
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

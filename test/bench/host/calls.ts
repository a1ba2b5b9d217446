import { randomUUID } from 'node:crypto';
import { describeDomain } from '@gantry/agent/libvirt/domain-xml/describe-domain';
import { renderDomain } from '@gantry/agent/libvirt/domain-xml/render-domain';
import {
  ARM_KVM,
  emulated,
  gpuServer,
  VM_ID,
  vmOfType,
  X86_KVM,
} from '@gantry/agent/libvirt/domain-xml/testing/gpu-server';
import { CATALOGUE } from '@gantry/model/vm-types';
import { connect } from 'node-libvirt/connect';
import type { Connection } from 'node-libvirt/connection';
import {
  domainDefineXmlFlags,
  domainGetState,
  domainGetXmlDesc,
  domainLookupByName,
} from 'node-libvirt/generated/procedures';
import { startPrivateLibvirtd } from 'node-libvirt/testing/private-libvirtd';
import { row } from '../fleet/table.ts';
import { median } from '../median.ts';
import { cpuMsOf } from './process.ts';
import { openVirsh, type Virsh, virshOnce } from './virsh.ts';

/**
 * Reads the XML and the state of domains from the same daemon, with node-libvirt and with virsh.
 * virsh looks a domain up for every command, so each command is two calls, and node-libvirt does
 * the same here. Rounds alternate, so that noise of the machine affects both.
 */
type CallsOptions = { rounds: number; domains: number; signal: AbortSignal };

const CALLS_PER_DOMAIN = 4;
/**
 * How many times a round reads all domains. With one virsh process per command, a round reads them
 * once.
 */
const TURNS = 20;

type Measured = { perSecond: number; cpuUs: number };
type Way = { name: string; run(): Promise<Measured> };

export async function measureCalls({ rounds, domains, signal }: CallsOptions): Promise<void> {
  const { socketPath, stop } = await startPrivateLibvirtd({ network: 'private' });
  try {
    const connection = await connect({ socketPath });
    const virsh = await openVirsh(socketPath);
    try {
      const names = await defineDomains(connection, domains);
      const ways = waysOf({ connection, virsh, socketPath, names });
      const results = new Map<string, Measured[]>(ways.map(({ name }) => [name, []]));
      for (let round = 0; round <= rounds; round += 1) {
        for (const { name, run } of ways) {
          signal.throwIfAborted();
          const measured = await run();
          // The first round is a warm-up.
          if (round > 0) results.get(name)?.push(measured);
        }
      }
      print(results);
    } finally {
      await virsh.close();
      await connection.close();
    }
  } finally {
    await stop();
  }
}

async function defineDomains(connection: Connection, count: number): Promise<string[]> {
  const platform = emulated(process.arch === 'x64' ? X86_KVM : ARM_KVM);
  const [type] = CATALOGUE;
  if (!type) throw new Error('BUG: the catalogue is empty');
  const xml = renderDomain({ ...describeDomain(vmOfType(type), gpuServer(platform)), platform });
  return await Promise.all(
    Array.from({ length: count }, async () => {
      const own = xml.replaceAll(VM_ID, randomUUID());
      const { dom } = await connection.call(domainDefineXmlFlags, { xml: own, flags: 0 });
      return dom.name;
    }),
  );
}

type Place = { connection: Connection; virsh: Virsh; socketPath: string; names: string[] };

function waysOf({ connection, virsh, socketPath, names }: Place): Way[] {
  const all = Array.from({ length: TURNS }, () => names).flat();
  const read = async (name: string) => {
    const first = await connection.call(domainLookupByName, { name });
    await connection.call(domainGetXmlDesc, { dom: first.dom, flags: 0 });
    const second = await connection.call(domainLookupByName, { name });
    await connection.call(domainGetState, { dom: second.dom, flags: 0 });
  };
  const commands = (name: string) => [`dumpxml ${name}`, `domstate ${name}`];
  return [
    {
      name: 'node-libvirt, one call after the other',
      run: () =>
        measure(all.length, ownCpuMs, async () => {
          for (const name of all) await read(name);
        }),
    },
    {
      name: 'node-libvirt, all at once',
      run: () => measure(all.length, ownCpuMs, () => Promise.all(all.map(read))),
    },
    {
      name: 'virsh, one for all commands',
      run: () =>
        measure(
          all.length,
          () => cpuMsOf(virsh.pid),
          () => virsh.run(all.flatMap(commands)),
        ),
    },
    {
      name: 'virsh, one for each command',
      run: () =>
        measure(
          names.length,
          () => Number.NaN,
          async () => {
            for (const command of names.flatMap(commands)) {
              await virshOnce(socketPath, ...command.split(' '));
            }
          },
        ),
    },
  ];
}

async function measure(
  domains: number,
  cpuMs: () => number,
  work: () => Promise<unknown>,
): Promise<Measured> {
  const calls = domains * CALLS_PER_DOMAIN;
  const [cpuBefore, begun] = [cpuMs(), performance.now()];
  await work();
  const seconds = (performance.now() - begun) / 1_000;
  return { perSecond: calls / seconds, cpuUs: ((cpuMs() - cpuBefore) * 1_000) / calls };
}

function ownCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

function print(results: ReadonlyMap<string, Measured[]>): void {
  const base = results.get('virsh, one for all commands') ?? [];
  for (const [name, rounds] of results) {
    row(name, median(rounds.map(({ perSecond }) => perSecond)), 'calls/s');
    const ratios = rounds.map(({ perSecond }, i) => perSecond / (base[i]?.perSecond ?? Number.NaN));
    if (rounds !== base) row('  beside one virsh for all commands', median(ratios), 'times');
    const cpuUs = median(rounds.map((round) => round.cpuUs));
    if (!Number.isNaN(cpuUs)) row("  the client's CPU per call", cpuUs, 'µs');
  }
}

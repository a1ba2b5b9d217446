import type { HostDriver, HostNetwork } from '@gantry/agent/host-driver';
import type { Lab } from '@gantry/agent/network/testing/lab';
import type { InterfaceSpec } from '@gantry/agent/spec';
import { SimulatedHostDriver } from '@gantry/simulator/driver/simulated-host-driver';
import { SERVER_MODELS } from '@gantry/simulator/servers/server-models';
import { simulatedInventory } from '@gantry/simulator/servers/simulated-inventory';
import { type NetGuest, runInGuest } from './guest.ts';

/** Packets arrive at one port before a change and at the other port after it. */
export const PORTS = ['4001', '4002'] as const;
const GUESTS = 2;
/** A change counts as complete after this many checks in which every packet obeyed it. */
const QUIET_LOOKS = 5;
/** A packet that does not obey by then is a failure. */
const OBEY_LIMIT_MS = 30_000;

/** A type for VMs without devices. */
const ROOMY = { cpu: { cores: 512, threads: 1_024 }, memoryBytes: 2 ** 42 };

type Heard = Record<string, { first: number; last: number }>;

/**
 * A host with simulated VMs and a real network. Two VMs have guests in namespaces; the second keeps
 * sending the time to two ports of the first.
 */
export class NetHost {
  readonly driver: HostDriver;
  readonly #lab: Lab;
  readonly #guests: { netns: string; address: string }[] = [];
  readonly #programs: NetGuest[] = [];
  #hearing: NetGuest | undefined;

  private constructor(lab: Lab, simulated: SimulatedHostDriver) {
    this.#lab = lab;
    const { hypervisor, volumes, snapshots, devices, seeds } = simulated;
    this.driver = {
      readBootId: () => simulated.readBootId(),
      readInventory: () => simulated.readInventory(),
      network: this.#withReal(simulated.network),
      ...{ hypervisor, volumes, snapshots, devices, seeds },
    };
  }

  static async open(lab: Lab): Promise<NetHost> {
    const [model] = SERVER_MODELS;
    if (!model) throw new Error('BUG: there is no server model');
    const inventory = await simulatedInventory(model);
    const { cpu, memoryBytes } = ROOMY;
    const roomy = { ...inventory, cpu: { ...inventory.cpu, ...cpu }, memoryBytes };
    return new NetHost(
      lab,
      new SimulatedHostDriver({ inventory: { ...roomy, sharedStorage: true } }),
    );
  }

  #withReal(simulated: HostNetwork): HostNetwork {
    const real = this.#lab.network();
    return new Proxy(real, {
      get: (_, key: keyof HostNetwork) => {
        const [first, second] = [simulated[key], real[key]] as ((...args: unknown[]) => unknown)[];
        return async (...args: unknown[]) => {
          if (key === 'ensureInterfaces') await this.#plug(args[1] as InterfaceSpec[]);
          await first?.apply(simulated, args);
          return await second?.apply(real, args);
        };
      },
    });
  }

  async #plug([iface]: readonly InterfaceSpec[]): Promise<void> {
    const address = iface?.privateIpv4.split('/')[0] ?? '';
    const isKnown = this.#guests.some((guest) => guest.address === address);
    if (!iface || isKnown || this.#guests.length === GUESTS) return;
    const guest = { netns: '', address };
    this.#guests.push(guest);
    guest.netns = (await this.#lab.addGuest(iface)).netns;
  }

  async startSending(): Promise<void> {
    const [hearing, sending] = this.#guests;
    if (!hearing || !sending) throw new Error('BUG: there are no guests');
    this.#hearing = runInGuest(hearing.netns, 'hear', PORTS.join());
    await this.#hearing.read();
    const sender = runInGuest(sending.netns, 'send', hearing.address, PORTS.join());
    await sender.read();
    this.#programs.push(this.#hearing, sender);
  }

  /** Returns the packets that arrived since the last query. */
  async heard(): Promise<Heard> {
    return (await this.#hearing?.ask<Heard>()) ?? {};
  }

  /**
   * Milliseconds from `begun` until packets obeyed: the first packet at the one port and the last
   * packet at the other.
   */
  async untilObeyed(port: string, { begun, signal }: { begun: number; signal: AbortSignal }) {
    let obeyedAt: number | null = null;
    let disobeyedAt = begun;
    for (let quiet = 0; quiet < QUIET_LOOKS; ) {
      signal.throwIfAborted();
      if (nowMs() - begun > OBEY_LIMIT_MS) throw new Error(`packets do not obey: port ${port}`);
      const { [port]: wanted, ...others } = await this.heard();
      for (const { last } of Object.values(others)) disobeyedAt = Math.max(disobeyedAt, last);
      obeyedAt ??= wanted?.first ?? null;
      if (Object.keys(others).length > 0) quiet = 0;
      else if (wanted) quiet += 1;
    }
    return Math.max(obeyedAt ?? begun, disobeyedAt) - begun;
  }

  stop(): void {
    for (const program of this.#programs) program.end();
  }
}

export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

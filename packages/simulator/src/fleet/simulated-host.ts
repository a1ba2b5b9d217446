import { type Agent, startAgent } from '@gantry/agent/agent';
import { type Clock, systemClock } from '@gantry/agent/base/clock';
import type { Timings } from '@gantry/agent/base/timings';
import type { HostDriver } from '@gantry/agent/host-driver';
import { channelCredentials, type Identity } from '@gantry/agent/identity/identity';
import type { LedgerStore } from '@gantry/agent/ledger/ledger';
import { grpcLink } from '@gantry/agent/link/grpc-link';
import { grpcTransfers } from '@gantry/agent/link/image-transfers';
import type { Connect } from '@gantry/agent/link/link';
import type { Log } from '@gantry/daemon/log';
import type { Tracer } from '@gantry/daemon/tracing/tracer';
import type { Fleet } from '@gantry/proto/load';
import type { SimulatedHostDriver } from '../driver/simulated-host-driver.ts';
import { SimulatedPackages, type UpgradeBehaviour } from '../upgrade/simulated-packages.ts';

export type SimulatedHostOptions = {
  fleet: Fleet;
  log: Log;
  tracer?: Tracer | null;
  driver: SimulatedHostDriver;
  /** What the agent drives, if not the driver alone. */
  agentDriver?: HostDriver;
  /** The time of the agent, except for its link. */
  clock?: Clock;
  ledger: LedgerStore;
  identity: Identity;
  /** Called before every attempt to attach. */
  address: () => string;
  heartbeatMs?: number;
  /** Called with the authorities that the fleet trusts. */
  onAuthorities?: (sha256s: readonly string[]) => void;
  timings?: Partial<Timings>;
  /** How orders to replace the agent end. The default is that they work at once. */
  upgrades?: UpgradeBehaviour;
  /** Wraps the agent's link, to simulate network faults. */
  wrapLink?: (connect: Connect) => Connect;
};

/**
 * One host of a simulated fleet: a host in memory and the real agent on it, with its own
 * certificate and stream. The agent can be killed and restarted, and the host can be rebooted.
 */
export class SimulatedHost {
  readonly driver: SimulatedHostDriver;
  readonly #options: SimulatedHostOptions;
  #identity: Identity;
  readonly #packages: SimulatedPackages;
  #agent: Agent | null = null;
  #version: string;

  constructor(options: SimulatedHostOptions) {
    this.driver = options.driver;
    this.#options = options;
    this.#identity = options.identity;
    this.#version = options.driver.agentVersion;
    this.#packages = new SimulatedPackages({
      clock: options.clock ?? systemClock,
      behaviour: options.upgrades ?? { installMs: 0, outcome: () => 'works' },
      version: () => this.#version,
      killAgent: () => this.kill(),
      startAgent: (version) => void this.#startVersion(version),
    });
  }

  get id(): string {
    return this.#identity.hostId;
  }

  get identity(): Identity {
    return this.#identity;
  }

  /** Whether the agent runs. The host may run without it. */
  get isRunning(): boolean {
    return this.#agent !== null;
  }

  async start(): Promise<void> {
    const { fleet, log, driver, ledger, address, heartbeatMs, timings } = this.#options;
    const {
      wrapLink = (link) => link,
      onAuthorities,
      agentDriver,
      clock,
      tracer = null,
    } = this.#options;
    const credentials = () => channelCredentials(this.#identity);
    const transfers = grpcTransfers({ fleet, address, credentials });
    driver.volumes.fetchBy(transfers.open);
    const connect = grpcLink({
      ...{ fleet, log, address, onAuthorities, credentials },
      ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
    });
    this.#agent = await startAgent({
      ...{ driver: agentDriver ?? driver, ledger, log, tracer, connect: wrapLink(connect) },
      ...{ packages: this.#packages, transfers },
      ...(timings ? { timings } : {}),
      ...(clock ? { clock } : {}),
    });
  }

  /** Call this after the certificate was renewed. The next stream uses it. */
  renewed(identity: Identity): void {
    this.#identity = identity;
    this.#agent?.reattach();
  }

  /** The next report contains it, as if the agent had noticed it. */
  changeInventory(change: Parameters<SimulatedHostDriver['changeInventory']>[0]): void {
    this.driver.changeInventory(change);
    this.#agent?.inventoryChanged();
  }

  /** Another version of the agent, which drives the same host and starts from the same ledger. */
  async #startVersion(version: string): Promise<void> {
    this.#version = version;
    this.driver.changeInventory((inventory) => ({
      ...inventory,
      software: { ...inventory.software, agent: version },
    }));
    await this.start();
  }

  kill(): void {
    this.#agent?.kill();
    this.#agent = null;
  }

  async stop(): Promise<void> {
    this.#packages.stop();
    await this.#agent?.stop();
    this.#agent = null;
  }

  /** The power fails: the VMs and the agent end without notice. `start` restores the power. */
  powerOff(): void {
    this.kill();
    this.driver.reboot();
  }

  /** A power cycle: the agent dies and starts again. */
  async reboot(): Promise<void> {
    this.powerOff();
    await this.start();
  }
}

import type { Log } from '@gantry/daemon/log';
import type { Tracer } from '@gantry/daemon/tracing/tracer';
import { type Clock, systemClock } from './base/clock.ts';
import { DEFAULT_TIMINGS, type Timings } from './base/timings.ts';
import { HostConsoles } from './consoles/host-consoles.ts';
import { GuestFreezes } from './freezes/guest-freezes.ts';
import type { DomainWatcher, HostDriver } from './host-driver.ts';
import { SpecInbox } from './ledger/accept-spec.ts';
import { Ledger, type LedgerStore } from './ledger/ledger.ts';
import type { ImageTransfers } from './link/image-transfers.ts';
import type { Connect, Link, LinkPeer } from './link/link.ts';
import type { HostContext } from './reconcile/host-context.ts';
import { HostFirewall } from './reconcile/host-firewall.ts';
import { Reconciler } from './reconcile/reconciler.ts';
import { buildReport } from './report/build-report.ts';
import { LastKnownDomains } from './report/last-known-domains.ts';
import { Reporter } from './report/reporter.ts';
import type { HostSpec, Neighbour } from './spec.ts';
import type { AgentPackages, UpgradeAttempt } from './upgrade/agent-packages.ts';
import { Upgrades } from './upgrade/upgrades.ts';

export type AgentOptions = {
  driver: HostDriver;
  ledger: LedgerStore;
  connect: Connect;
  log: Log;
  /** Sends the content of snapshots for images. Absent: the agent cannot. */
  transfers?: ImageTransfers | undefined;
  /** Installs other versions of the agent. Absent: orders to do so are ignored. */
  packages?: AgentPackages;
  /** Null, the default: no traces. */
  tracer?: Tracer | null;
  clock?: Clock;
  timings?: Partial<Timings>;
};

/**
 * The agent of a host. It receives specs, stores the accepted one in its ledger, brings the host to
 * that state and reports the observed state. It starts from its ledger and the host, and works
 * without a connection to a scheduler.
 */
export async function startAgent(options: AgentOptions): Promise<Agent> {
  const { driver, packages } = options;
  const ledger = new Ledger(options.ledger, await options.ledger.read());
  const lastUpgrade = (await packages?.readAttempt()) ?? null;
  return new Agent(options, { ledger, hostBootId: await driver.readBootId(), lastUpgrade });
}

/** What monitoring shows of the agent. */
export type AgentFigures = { specNumber: number; isRefusing: boolean; vms: number };

/** What the host remembers from the time before this process. */
type Remembered = { ledger: Ledger; hostBootId: string; lastUpgrade: UpgradeAttempt | null };

export class Agent implements LinkPeer, DomainWatcher {
  readonly #host: HostContext;
  readonly #reconciler: Reconciler;
  readonly #reporter: Reporter;
  readonly #link: Link;
  readonly #consoles: HostConsoles;
  readonly #freezes: GuestFreezes;
  readonly #unwatch: () => void;
  readonly #inbox: SpecInbox;
  readonly #upgrades: Upgrades | null;
  #stopped = false;

  constructor(options: AgentOptions, { ledger, hostBootId, lastUpgrade }: Remembered) {
    const { driver, log, connect, packages, clock = systemClock } = options;
    const timings = options.timings ? { ...DEFAULT_TIMINGS, ...options.timings } : DEFAULT_TIMINGS;
    const changed = () => this.#reporter.changed();
    const firewall = new HostFirewall({ network: driver.network, ledger, changed });
    const domains = new LastKnownDomains({
      ...{ hypervisor: driver.hypervisor, clock },
      graceMs: timings.retryMs.at(-1) ?? 0,
      // A daemon that hangs and continues keeps its connection, so the driver does not notice it.
      recovered: () => this.reconnected(),
    });
    this.#host = {
      ...{ driver, ledger, clock, timings, log, hostBootId, firewall, changed },
      operationOf: (vmId) => this.#inbox.operationOf(vmId),
      tracer: options.tracer ?? null,
      transfers: options.transfers ?? null,
    };
    this.#reconciler = new Reconciler(this.#host, (orderId) => this.#freezes.isHolding(orderId));
    this.#inbox = new SpecInbox({
      ...{ driver, ledger, clock, timings, log },
      accepted: () => this.#reconciler.nudge(),
      // Also for a spec whose number is known: consoles change without a new number.
      upToDate: (spec) => {
        if (this.#stopped) return;
        this.#consoles.want(spec.consoles);
        this.#freezes.follow(spec.freezes);
        this.#upgrades?.follow(spec.agentUpgrade);
      },
      judged: changed,
    });
    this.#reporter = new Reporter({
      ...{ host: this.#host, domains },
      build: () =>
        buildReport({
          ...{ host: this.#host, domains, reconciler: this.#reconciler },
          refusal: this.#inbox.refusal,
          freezes: this.#freezes.report(),
        }),
      send: (report) => this.#link.send(report),
      upgrade: () => this.#upgrades?.report ?? null,
    });
    const inventoryChanged = () => this.#reporter.inventoryChanged();
    this.#upgrades = packages
      ? new Upgrades({ packages, clock, log, last: lastUpgrade, changed: inventoryChanged })
      : null;
    this.#consoles = new HostConsoles({
      ...{ hypervisor: driver.hypervisor, log },
      openStream: (consoleId) => this.#link.openConsole(consoleId),
    });
    const { hypervisor } = driver;
    this.#freezes = new GuestFreezes({ hypervisor, ledger, clock, log, changed });
    this.#freezes.start();
    this.#unwatch = driver.hypervisor.watch(this);
    this.#reconciler.nudge();
    this.#link = connect(this);
  }

  /** Reconnects the stream after a certificate renewal, so that it uses the new certificate. */
  reattach(): void {
    this.#link.reattach();
  }

  /** The hardware may have changed; the next report contains the inventory. */
  inventoryChanged(): void {
    this.#reporter.inventoryChanged();
  }

  figures(): AgentFigures {
    const { spec } = this.#host.ledger.content;
    return {
      specNumber: Number(spec?.number ?? 0),
      isRefusing: this.#inbox.refusal !== null,
      vms: spec?.vms.length ?? 0,
    };
  }

  /** Applies firewall rules again that were changed outside the agent. */
  async restoreRules(options: { quickly: boolean }): Promise<void> {
    const { firewall, log } = this.#host;
    if (await firewall.restore(options)) {
      log.warn('firewall rules were changed outside the agent; reapplied');
    }
  }

  /** Stops after the steps in progress have ended. VMs keep running. */
  async stop(): Promise<void> {
    this.#detach();
    await Promise.all([this.#freezes.stop(), this.#reconciler.stop()]);
  }

  /** Stops at once like a killed process: steps in progress are never recorded in the ledger. */
  kill(): void {
    this.#host.ledger.die();
    this.#detach();
    void this.#reconciler.stop();
  }

  attached(): void {
    this.#reporter.attached();
  }

  received(spec: HostSpec): void {
    this.#inbox.receive(spec);
  }

  receivedMembers(networkId: string, members: Neighbour[]): void {
    this.#inbox.receiveMembers(networkId, members);
  }

  domainChanged(vmId: string): void {
    this.#reconciler.nudgeVm(vmId);
  }

  domainRecovered(vmId: string): void {
    this.#reconciler.retryVm(vmId);
  }

  reconnected(): void {
    this.#reconciler.recheckAll();
    this.#inbox.retry();
  }

  serialLogGrew(vmId: string): void {
    this.#reporter.serialLogGrew(vmId);
  }

  #detach(): void {
    this.#stopped = true;
    this.#inbox.stop();
    this.#upgrades?.stop();
    this.#unwatch();
    this.#reporter.stop();
    this.#consoles.want([]);
    this.#link.end();
  }
}

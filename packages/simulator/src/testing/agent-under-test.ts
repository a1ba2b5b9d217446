import { type Agent, startAgent } from '@gantry/agent/agent';
import { DEFAULT_TIMINGS, type Timings } from '@gantry/agent/base/timings';
import type { HostDriver } from '@gantry/agent/host-driver';
import type { LedgerStore } from '@gantry/agent/ledger/ledger';
import type { Link, LinkPeer } from '@gantry/agent/link/link';
import type { HostSpec, Neighbour } from '@gantry/agent/spec';
import type { AgentPackages } from '@gantry/agent/upgrade/agent-packages';
import { createLog } from '@gantry/daemon/log';
import type { HostReport } from '@gantry/proto/generated/gantry/v1/HostReport';
import type { VmReport } from '@gantry/proto/generated/gantry/v1/VmReport';
import { ManualClock } from '@gantry/testkit/clock/manual-clock';
import { MemoryLedger } from '@gantry/testkit/hosts/memory-ledger';
import { SimulatedHostDriver } from '../driver/simulated-host-driver.ts';
import { makeInventory } from './make-inventory.ts';

const log = createLog({ process: 'test', level: 'silent' });
const TIMINGS: Timings = { ...DEFAULT_TIMINGS, reportMs: 0 };
/** Event-loop turns: far more than any test needs, but fewer than a minute takes. */
const PATIENCE = 20_000;

/** A host whose agent can be killed and restarted, with a link whose other end is the test. */
export class AgentUnderTest {
  readonly clock = new ManualClock();
  readonly driver = new SimulatedHostDriver({ inventory: makeInventory(), clock: this.clock });
  ledger: LedgerStore = new MemoryLedger();
  agent: Agent | null = null;
  reports: HostReport[] = [];
  #peer: LinkPeer | null = null;

  /** Starts an agent, optionally with another driver or ledger for the same host. */
  async start(
    over: { driver?: HostDriver; ledger?: LedgerStore; packages?: AgentPackages } = {},
  ): Promise<void> {
    this.reports = [];
    this.agent = await startAgent({
      driver: over.driver ?? this.driver,
      ledger: over.ledger ?? this.ledger,
      log,
      ...(over.packages ? { packages: over.packages } : {}),
      clock: this.clock,
      timings: TIMINGS,
      connect: (peer) => this.#connect(peer),
    });
    this.attach();
  }

  kill(): void {
    this.agent?.kill();
    this.agent = null;
    this.#peer = null;
  }

  /** Simulates the start of a new stream. */
  attach(): void {
    this.#peer?.attached();
  }

  send(spec: HostSpec): void {
    this.#peer?.received(spec);
  }

  sendMembers(networkId: string, members: Neighbour[]): void {
    this.#peer?.receivedMembers(networkId, members);
  }

  get report(): HostReport {
    return this.reports.at(-1) ?? {};
  }

  vm(id: string): VmReport | undefined {
    return this.report.vms?.find((vm) => vm.id === id);
  }

  /** The state in the last report, if the report is for this revision. */
  stateOf(id: string, revision: string): string | undefined {
    const vm = this.vm(id);
    return vm?.revision === revision
      ? String(vm.state).replace('VM_OBSERVED_STATE_', '')
      : undefined;
  }

  async untilState(id: string, revision: string, state: string): Promise<void> {
    await until(
      () => this.stateOf(id, revision) === state,
      () => `${id} is not ${state}: ${JSON.stringify(this.report)}`,
    );
  }

  #connect(peer: LinkPeer): Link {
    this.#peer = peer;
    return {
      send: (report) => {
        if (this.#peer !== peer) return false;
        this.reports.push(report);
        return true;
      },
      openConsole: () => null,
      reattach: () => {},
      end: () => {},
    };
  }
}

export async function until(condition: () => boolean, explain = () => 'never came'): Promise<void> {
  for (let turn = 0; turn < PATIENCE; turn += 1) {
    if (condition()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(explain());
}

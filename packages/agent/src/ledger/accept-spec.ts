import type { Log } from '@gantry/daemon/log';
import type { SpecRefusal } from '@gantry/proto/generated/gantry/v1/SpecRefusal';
import type { Clock } from '../base/clock.ts';
import { failureOf } from '../base/failure.ts';
import type { Timings } from '../base/timings.ts';
import { Worker } from '../base/worker.ts';
import type { HostDriver } from '../host-driver.ts';
import type { HostSpec, Neighbour } from '../spec.ts';
import { judgeSpec } from './judge-spec.ts';
import { type Refusals, refusedVms } from './judge-vms.ts';
import type { Ledger } from './ledger.ts';
import { networksWithMembers, withMembers } from './with-members.ts';
import { withSpec } from './with-spec.ts';

type InboxOptions = {
  driver: Pick<HostDriver, 'hypervisor' | 'devices'>;
  ledger: Ledger;
  clock: Clock;
  timings: Timings;
  log: Log;
  /** Called when the ledger has a new spec. */
  accepted: () => void;
  /** Called for every spec that is not refused, after `accepted`. */
  upToDate: (spec: HostSpec) => void;
  /** Called for every spec, accepted or not. */
  judged: () => void;
};

/**
 * Accepts the specs that arrive, or refuses them. An accepted spec is in the ledger, and therefore
 * on disk, before anything is done for it. A spec contains the whole desired state, so only the last
 * of several waiting specs counts. A VM that the agent cannot accept is refused alone: the other VMs
 * of the spec are accepted.
 */
export class SpecInbox {
  readonly #options: InboxOptions;
  readonly #judging = new Worker(() => this.#judgeReceived());
  #received: HostSpec | null = null;
  /** A spec that could not be judged because of an error. A newer spec replaces it. */
  #waiting: HostSpec | null = null;
  readonly #members = new Map<string, readonly Neighbour[]>();
  /** The networks of the last spec that arrived. */
  #networkIds = new Set<string>();
  #hasNewMembers = false;
  /** The unfinished operation of each VM, as far as the last judged spec names it. */
  #operations = new Map<string, string>();
  #refusal: SpecRefusal | null = null;
  #stopped = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** The refusal of the last spec; null if it was accepted. */
  get refusal(): SpecRefusal | null {
    return this.#refusal;
  }

  /** Returns the id of the operation that the VM is changed for, if the scheduler named one. */
  operationOf(vmId: string): string | undefined {
    return this.#operations.get(vmId);
  }

  receive(spec: HostSpec): void {
    this.#forgetMembers(spec);
    this.#received = spec;
    this.#waiting = null;
    this.#judging.nudge();
  }

  receiveMembers(networkId: string, members: readonly Neighbour[]): void {
    this.#members.set(networkId, members);
    this.#hasNewMembers = true;
    this.#judging.nudge();
  }

  /** Judges a spec again that could not be judged, because the cause of the error may be gone. */
  retry(): void {
    if (this.#waiting) this.receive(this.#waiting);
  }

  stop(): void {
    this.#stopped = true;
    void this.#judging.stop();
  }

  async #judgeReceived(): Promise<void> {
    const spec = this.#received;
    if (spec) {
      this.#received = null;
      try {
        await this.#judge(spec);
      } catch (error) {
        this.#judgeLater(spec, error);
      }
      this.#options.judged();
    }
    if (this.#hasNewMembers) await this.#storeMembers();
  }

  async #storeMembers(): Promise<void> {
    const { ledger, accepted, log } = this.#options;
    this.#hasNewMembers = false;
    try {
      await ledger.update((content) => withMembers(content, this.#members));
      accepted();
    } catch (error) {
      // They are stored with the next change, or when the stream brings them again.
      log.error({ error }, 'VMs on other hosts could not be stored');
    }
  }

  async #judge(spec: HostSpec): Promise<void> {
    const { driver, ledger, clock, accepted, upToDate } = this.#options;
    const [domains, devices] = await Promise.all([driver.hypervisor.list(), driver.devices.list()]);
    const verdict = judgeSpec(spec, ledger.content.spec);
    if (!verdict.accepted) return this.#refuse(spec, verdict);
    this.#operations = new Map(spec.operations.map(({ vmId, operationId }) => [vmId, operationId]));
    if (verdict.isNew) {
      const holdings = { domains, devices };
      const refusals = refusedVms(spec, { ledger: ledger.content, holdings });
      this.#logRefusals(spec, refusals);
      const nowMs = clock.nowMs();
      await ledger.update((content) => {
        const networks = networksWithMembers(spec, { last: content.spec, members: this.#members });
        return withSpec(content, { spec: { ...spec, networks }, holdings, refusals, nowMs });
      });
      accepted();
    }
    this.#refusal = null;
    upToDate(spec);
  }

  /**
   * Forgets the VMs of networks that the host has left. Those of a network that it is about to enter may
   * arrive before the spec does.
   */
  #forgetMembers({ networks = [] }: HostSpec): void {
    const present = new Set(networks.map(({ id }) => id));
    for (const id of this.#networkIds) if (!present.has(id)) this.#members.delete(id);
    this.#networkIds = present;
  }

  #refuse(spec: HostSpec, { code, message }: { code: string; message: string }): void {
    const { log, clock } = this.#options;
    const same = this.#refusal?.failure?.code === code ? this.#refusal.failure : null;
    log.error({ spec_number: spec.number, code }, message);
    const sinceMs = same?.sinceMs ?? clock.nowMs();
    // The wire does not allow zero here, so the refusal of a spec without a number carries 1.
    const number = spec.number === '0' ? '1' : spec.number;
    this.#refusal = { number, failure: { code, message, sinceMs } };
  }

  #logRefusals(spec: HostSpec, refusals: Refusals): void {
    for (const [vmId, { code, message }] of refusals) {
      const facts = { vm_id: vmId, operation_id: this.operationOf(vmId) };
      this.#options.log.error({ spec_number: spec.number, ...facts, code }, message);
    }
  }

  /** The scheduler does not send the same spec twice. */
  #judgeLater(spec: HostSpec, error: unknown): void {
    const { clock, timings } = this.#options;
    const { code, message } = failureOf(error, null, clock.nowMs());
    this.#refuse(spec, { code, message: `not accepted yet: ${message}` });
    if (this.#received) return;
    this.#waiting = spec;
    clock.after(timings.retryMs.at(-1) ?? 0, () => {
      if (!this.#stopped && this.#waiting === spec) this.receive(spec);
    });
  }
}

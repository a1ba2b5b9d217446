import type { Log } from '@gantry/daemon/log';
import type { SpecRefusal } from '@gantry/proto/generated/gantry/v1/SpecRefusal';
import type { Clock } from '../base/clock.ts';
import { failureOf } from '../base/failure.ts';
import type { Timings } from '../base/timings.ts';
import { Worker } from '../base/worker.ts';
import type { Device, Domain, HostDriver } from '../host-driver.ts';
import { type HostSpec, isBelow } from '../spec.ts';
import type { Ledger, LedgerContent, VmFacts } from './ledger.ts';
import { specProblem } from './spec-problem.ts';

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
 * of several waiting specs counts.
 */
export class SpecInbox {
  readonly #options: InboxOptions;
  readonly #judging = new Worker(() => this.#judgeReceived());
  #received: HostSpec | null = null;
  /** A spec that could not be judged because of an error. A newer spec replaces it. */
  #waiting: HostSpec | null = null;
  #refusal: SpecRefusal | null = null;
  #stopped = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** The refusal of the last spec; null if it was accepted. */
  get refusal(): SpecRefusal | null {
    return this.#refusal;
  }

  receive(spec: HostSpec): void {
    this.#received = spec;
    this.#waiting = null;
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
    if (!spec) return;
    this.#received = null;
    try {
      await this.#judge(spec);
    } catch (error) {
      this.#judgeLater(spec, error);
    }
    this.#options.judged();
  }

  async #judge(spec: HostSpec): Promise<void> {
    const { driver, ledger, accepted, upToDate } = this.#options;
    const [domains, devices] = await Promise.all([driver.hypervisor.list(), driver.devices.list()]);
    const holdings = { domains, devices };
    const verdict = judgeSpec(spec, { ledger: ledger.content, holdings });
    if (!verdict.accepted) return this.#refuse(spec, verdict);
    if (verdict.isNew) {
      await ledger.update((content) => withSpec(content, { spec, holdings }));
      accepted();
    }
    this.#refusal = null;
    upToDate(spec);
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

/**
 * The checks that a spec must pass before the agent accepts it. The scheduler and its database
 * enforce the same rules; these checks do not rely on them, so that no mistake in the control plane
 * makes two VMs share a device or lets an old scheduler undo a newer one. A refused spec changes
 * nothing.
 */
export type Holdings = { domains: readonly Domain[]; devices: readonly Device[] };
export type Verdict =
  | { accepted: true; isNew: boolean }
  | { accepted: false; code: string; message: string };

type Known = { ledger: LedgerContent; holdings: Holdings };

export function judgeSpec(spec: HostSpec, { ledger, holdings }: Known): Verdict {
  const bad = specProblem(spec);
  if (bad !== null) return { accepted: false, code: 'bad_spec', message: `refused: ${bad}` };
  const last = ledger.spec?.number ?? '0';
  if (spec.number === last) return { accepted: true, isNew: false };
  if (isBelow(spec.number, last)) {
    const message = `refused: its number ${spec.number} is below ${last}, which was accepted already`;
    return { accepted: false, code: 'stale_number', message };
  }
  const conflict = sharedInSpec(spec) ?? heldByAnother(spec, { ledger, holdings });
  if (conflict === null) return { accepted: true, isNew: true };
  return { accepted: false, code: 'device_in_use', message: `refused: ${conflict}` };
}

/** A device that is still to be cleaned after one VM cannot belong to another VM yet. */
function sharedInSpec(spec: HostSpec): string | null {
  const owners = new Map<string, string>();
  for (const vm of [...spec.vms, ...spec.takeDowns]) {
    for (const { address } of vm.devices) {
      const other = owners.get(address);
      if (other !== undefined) return `${address} is named for VM ${other} and for VM ${vm.id}`;
      owners.set(address, vm.id);
    }
  }
  return null;
}

function heldByAnother(spec: HostSpec, { ledger, holdings }: Known): string | null {
  const holders = new Map<string, Set<string>>();
  const hold = (address: string, vmId: string) =>
    holders.set(address, (holders.get(address) ?? new Set()).add(vmId));

  for (const { vmId, address } of holdings.devices) hold(address, vmId);
  for (const domain of holdings.domains) {
    for (const { address } of domain.devices) hold(address, domain.vmId);
  }
  // Accepted earlier, and perhaps being bound at this moment.
  for (const vm of ledger.spec?.vms ?? []) {
    for (const { address } of vm.devices) hold(address, vm.id);
  }
  for (const vm of ledger.spec?.takeDowns ?? []) {
    const cleaned = new Set(ledger.vms[vm.id]?.receipts.map((receipt) => receipt.pciAddress));
    for (const { address } of vm.devices) {
      if (!cleaned.has(address)) hold(address, vm.id);
    }
  }

  for (const vm of spec.vms) {
    for (const { address } of vm.devices) {
      const other = [...(holders.get(address) ?? [])].find((holder) => holder !== vm.id);
      if (other !== undefined) return `${address}, named for VM ${vm.id}, is in use by VM ${other}`;
    }
  }
  return null;
}

/**
 * Returns the ledger with this spec, without facts about VMs that are neither in the spec nor on
 * the host.
 */
export function withSpec(
  ledger: LedgerContent,
  { spec, holdings }: { spec: HostSpec; holdings: Holdings },
): LedgerContent {
  const wanted = new Set(spec.vms.map((vm) => vm.id));
  const takenDown = new Set(spec.takeDowns.map((vm) => vm.id));
  const found = new Set([...holdings.domains, ...holdings.devices].map(({ vmId }) => vmId));
  const vms: Record<string, VmFacts> = {};
  for (const [vmId, facts] of Object.entries(ledger.vms)) {
    if (wanted.has(vmId)) {
      vms[vmId] = { ...facts, receipts: [], takenDownRevision: '', shutdownAskedMs: 0 };
    } else if (takenDown.has(vmId) || found.has(vmId)) {
      vms[vmId] = facts;
    }
  }
  // A console belongs to the stream that asked for it, so it is not stored.
  return { ...ledger, spec: { ...spec, consoles: [] }, vms };
}

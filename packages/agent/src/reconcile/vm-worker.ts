import { isDeepStrictEqual } from 'node:util';
import { type Failure, failureOf, HostFailure } from '../base/failure.ts';
import { Worker } from '../base/worker.ts';
import {
  entryOf,
  type InterfaceSpec,
  isSameEntry,
  type VmEntry,
  type VmSpec,
  withDiskLimits,
} from '../spec.ts';
import { Alarm } from './alarm.ts';
import type { HostContext } from './host-context.ts';
import { lastGeneration, type Plan, planVm } from './plan.ts';
import { type ChangeTrace, traceChange } from './trace-change.ts';
import {
  keepRunning,
  type Step,
  type StepGroup,
  stepsAdjust,
  stepsAwaitStart,
  stepsDown,
  stepsReset,
  stepsUp,
} from './vm-parts.ts';

/**
 * Brings one VM to its desired state. A nudge carries no information: the worker reads the desired
 * and the observed state, plans, and runs the groups of steps one after another; the steps of a group
 * run at the same time. Before each step it checks whether the desired state has changed; if so, it
 * starts over when the other steps of the group have ended. If the agent dies midway, the next
 * agent starts over from what it finds on the host.
 */
export class VmWorker {
  readonly vmId: string;
  readonly #host: HostContext;
  readonly #alarm: Alarm;
  readonly #worker: Worker;
  #cancelRetry: (() => void) | null = null;
  #replied = '0';
  #failure: Failure | null = null;
  /** The entry that was given up, and whether it may be tried again. */
  #failed: VmEntry | null = null;
  #mayRetry = false;
  /** The interfaces that the VM has since the last entry was carried out; null if that is not certain. */
  #interfaces: readonly InterfaceSpec[] | null = null;
  /** Whether the domain is being started, which can take half an hour. */
  #isStarting = false;

  /** `rested` is called whenever the worker has nothing to do. */
  constructor(host: HostContext, vmId: string, rested: (vmId: string) => void) {
    this.#host = host;
    this.vmId = vmId;
    this.#worker = new Worker(
      () => this.#carryOut(this.#wanted()),
      () => rested(vmId),
    );
    this.#alarm = new Alarm(host.clock);
  }

  /** Revision of the entry that was last carried out or given up; "0" before the first. */
  get replied(): string {
    return this.#replied;
  }

  get failure(): Failure | null {
    return this.#failure;
  }

  get hasFailed(): boolean {
    return this.#failed !== null;
  }

  nudge(): void {
    this.#alarm.ring();
    this.#worker.nudge();
    if (this.#isStarting) this.#endUnwantedStart();
  }

  /** Retries an entry that was given up, because the cause of the failure may be gone. */
  retry(): void {
    this.#mayRetry = true;
    this.nudge();
  }

  /** Returns when the step in progress has ended. */
  async stop(): Promise<void> {
    this.#cancelRetry?.();
    const stopped = this.#worker.stop();
    this.#alarm.ring();
    await stopped;
  }

  async #carryOut(entry: VmEntry | null): Promise<void> {
    if (entry === null) return this.#settle(entry);
    const seen: { plan: Plan } = { plan: 'nothing' };
    const look = async () => {
      seen.plan = await this.#look(entry);
    };
    if (!(await this.#try({ name: 'host', run: look }, entry))) return;
    const { plan } = seen;
    if (plan === 'nothing' || plan === 'crashed') return this.#settle(entry);
    if (this.#isHeld(entry)) return;
    this.#host.changed();
    const startedMs = this.#host.clock.nowMs();
    const trace = traceChange(this.#host, this.vmId, plan);
    const groups = this.#steps(plan, entry);
    this.#interfaces = null;
    for (const group of groups) {
      const done = await Promise.all(group.map((step) => this.#try(step, entry, trace)));
      if (done.includes(false)) return trace?.end(false);
    }
    trace?.end(true);
    this.#interfaces = entry.takeDown || plan === 'awaitStart' ? null : entry.vm.interfaces;
    const ms = this.#host.clock.nowMs() - startedMs;
    this.#host.log.info({ ...this.#facts(), change: plan, ms }, 'VM changed');
    // The start that was waited for may have failed, or may have been for an earlier revision.
    if (plan === 'awaitStart') this.#startOver();
    else this.#settle(entry);
  }

  /** An entry that was given up is left alone until the desired state changes or a retry is due. */
  #isHeld(entry: VmEntry): boolean {
    if (!isSameEntry(this.#failed, entry)) this.#failed = null;
    const isHeld = this.#failed !== null && !this.#mayRetry;
    this.#mayRetry = false;
    return isHeld;
  }

  #steps(plan: Exclude<Plan, 'nothing' | 'crashed'>, entry: VmEntry): StepGroup[] {
    if (entry.takeDown) {
      return stepsDown(this.#host, entry.vm, {
        rest: (delayMs) => this.#alarm.sleep(delayMs),
        isOutdated: () => this.#isOutdated(entry),
      });
    }
    if (plan === 'awaitStart') return stepsAwaitStart(this.#host, entry.vm);
    if (plan === 'adjust')
      return stepsAdjust(this.#host, entry.vm, { hasInterfaces: this.#hasInterfaces(entry.vm) });
    return plan === 'reset' ? stepsReset(this.#host, entry.vm) : stepsUp(this.#host, entry.vm);
  }

  /** If the revision was carried out before, its domain was changed outside the agent: then everything is checked. */
  #hasInterfaces({ revision, interfaces }: VmSpec): boolean {
    return this.#replied !== revision && isDeepStrictEqual(this.#interfaces, interfaces);
  }

  /** Returns true when the step is done, false if it was given up or the desired state changed. */
  async #try(step: Step, entry: VmEntry, trace?: ChangeTrace | null): Promise<boolean> {
    const { timings, log, clock } = this.#host;
    for (let tries = 0; ; tries += 1) {
      if (this.#isOutdated(entry)) return this.#startOver();
      const startMs = clock.nowMs();
      try {
        this.#isStarting = step.name === 'domain' && !entry.takeDown;
        await step.run();
        trace?.attempted(step.name, startMs);
        // A step that waits returns early if it is outdated.
        return this.#isOutdated(entry) ? this.#startOver() : true;
      } catch (error) {
        trace?.attempted(step.name, startMs, error);
        const facts = { ...this.#facts(), part: step.name, attempt: tries + 1 };
        log.warn({ error, ...facts }, 'part of a VM failed');
        const isFinal = error instanceof HostFailure && error.isFinal;
        const pauseMs = isFinal ? undefined : timings.retryMs[tries];
        if (pauseMs === undefined) {
          this.#giveUp(entry, error);
          return false;
        }
        await this.#restFully(pauseMs, entry);
      } finally {
        this.#isStarting = false;
      }
    }
  }

  /** A VM that is to be removed does not have to start first. The step in progress fails, and starts over. */
  #endUnwantedStart(): void {
    const wanted = this.#wanted();
    if (!wanted?.takeDown || wanted.vm.graceful) return;
    this.#host.driver.hypervisor.powerOff(this.vmId).catch((error: unknown) => {
      this.#host.log.warn({ error, ...this.#facts() }, 'start not ended; waiting for its end');
    });
  }

  /** What identifies the VM and the reason for its change in the log. */
  #facts() {
    return { vm_id: this.vmId, operation_id: this.#host.operationOf(this.vmId) };
  }

  #startOver(): false {
    this.#worker.nudge();
    return false;
  }

  #settle(entry: VmEntry | null): void {
    const revision = entry?.vm.revision ?? '0';
    const isNews = this.#replied !== revision || this.#failure !== null;
    this.#replied = revision;
    this.#failure = null;
    this.#failed = null;
    this.#mayRetry = false;
    this.#cancelRetry?.();
    if (isNews) this.#host.changed();
  }

  #giveUp(entry: VmEntry, error: unknown): void {
    const { clock, timings } = this.#host;
    this.#failure = failureOf(error, this.#failure, clock.nowMs());
    this.#host.log.error({ ...this.#facts(), code: this.#failure.code }, 'VM given up for now');
    this.#failed = entry;
    this.#replied = entry.vm.revision;
    this.#cancelRetry?.();
    this.#cancelRetry = clock.after(timings.failedMs, () => this.retry());
    this.#host.changed();
  }

  /** Plans, and records in the ledger what cannot be read from the host later. */
  async #look(entry: VmEntry): Promise<Plan> {
    const { driver, ledger, hostBootId } = this.#host;
    const domain = await driver.hypervisor.read(this.vmId);
    const facts = ledger.facts(this.vmId);
    const plan = planVm(entry, { domain, facts, hostBootId });
    const generation = lastGeneration({ domain, facts });
    if (domain?.state === 'running') await keepRunning(this.#host, this.vmId, generation);
    if (plan === 'crashed' && !facts.crashed) {
      await ledger.updateFacts(this.vmId, { crashed: true, generation, hostBootId });
      this.#host.changed();
    }
    return plan;
  }

  #wanted(): VmEntry | null {
    const { spec } = this.#host.ledger.content;
    return withDiskLimits(entryOf(spec, this.vmId), spec);
  }

  #isOutdated(entry: VmEntry): boolean {
    return this.#worker.isStopped || !isSameEntry(entry, this.#wanted());
  }

  /** Continues to sleep if it was woken for another reason. */
  async #restFully(delayMs: number, entry: VmEntry): Promise<void> {
    const { clock } = this.#host;
    const untilMs = clock.nowMs() + delayMs;
    while (!this.#isOutdated(entry) && clock.nowMs() < untilMs) {
      await this.#alarm.sleep(untilMs - clock.nowMs());
    }
  }
}

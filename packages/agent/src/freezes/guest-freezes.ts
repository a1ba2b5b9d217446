/**
 * Freezes the file systems of guests for snapshots, by the order of a spec. A guest must never stay frozen: it is thawed
 * when the order is to be released or is gone, at the latest after the order's time limit. The ledger names the order
 * before the guest is frozen, so that an agent that is started after a crash thaws the guest first.
 *
 * An order is carried out once. RELEASED says that the guest was frozen all the time from the report FROZEN until the
 * release was ordered. After a restart of the agent that is not known, so the order counts as expired.
 */
import type { Log } from '@gantry/daemon/log';
import type { FreezeReport } from '@gantry/proto/generated/gantry/v1/FreezeReport';
import type { GuestFreeze__Output } from '@gantry/proto/generated/gantry/v1/GuestFreeze';
import type { Clock } from '../base/clock.ts';
import { type Failure, failureOf } from '../base/failure.ts';
import type { Hypervisor } from '../host-driver.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { Alarm } from '../reconcile/alarm.ts';

type Order = GuestFreeze__Output;
type Outcome = {
  state: 'FROZEN' | 'RELEASED' | 'EXPIRED' | 'FAILED';
  failure: Failure | null;
};

type Options = {
  hypervisor: Pick<Hypervisor, 'freezeGuest' | 'thawGuest' | 'read'>;
  ledger: Ledger;
  clock: Clock;
  log: Log;
  /** The report has changed. */
  changed: () => void;
};

/** Between two attempts to thaw a guest. */
const RETRY_MS = 2_000;
/** A guest that could not be frozen may still freeze, if only its reply was late. It is thawed this often. */
const THAWS_AFTER_FAILURE = 30;

export class GuestFreezes {
  readonly #options: Options;
  readonly #alarm: Alarm;
  readonly #outcomes = new Map<string, Outcome>();
  /** The work for each VM: one order after the other. */
  readonly #busy = new Map<string, Promise<void>>();
  #orders: readonly Order[] = [];
  #stopped = false;

  constructor(options: Options) {
    this.#options = options;
    this.#alarm = new Alarm(options.clock);
  }

  /** Thaws what an agent before this one left frozen. */
  start(): void {
    for (const vmId of Object.keys(this.#options.ledger.content.vms)) this.#nudge(vmId);
  }

  follow(orders: readonly Order[]): void {
    if (this.#stopped) return;
    this.#orders = orders;
    const ids = new Set(orders.map(({ id }) => id));
    for (const [id, { state }] of this.#outcomes) {
      if (!ids.has(id) && state !== 'FROZEN') this.#outcomes.delete(id);
    }
    this.#alarm.ring();
    for (const { vmId } of orders) this.#nudge(vmId);
  }

  /** Whether the guest has been frozen by this order all the time since it was reported as frozen. */
  isHolding(orderId: string): boolean {
    return this.#outcomes.get(orderId)?.state === 'FROZEN';
  }

  report(): FreezeReport[] {
    return [...this.#outcomes].map(([id, { state, failure }]) => ({
      ...{ id, state: `FREEZE_STATE_${state}` as const },
      ...(failure ? { failure } : {}),
    }));
  }

  /** Returns when every guest is thawed that can be thawed at the first attempt. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#alarm.ring();
    await Promise.all(this.#busy.values());
  }

  #nudge(vmId: string): void {
    if (this.#busy.has(vmId) || this.#stopped) return;
    const order = this.#orders.find((each) => each.vmId === vmId && !this.#outcomes.has(each.id));
    if (!order && !this.#isLeftFrozen(vmId)) return;
    const work = this.#work(vmId, order).catch((error: unknown) => {
      this.#options.log.error({ error, vm_id: vmId }, 'guest not frozen or thawed');
    });
    this.#busy.set(vmId, work);
    void work.then(() => {
      this.#busy.delete(vmId);
      this.#nudge(vmId);
    });
  }

  async #work(vmId: string, order: Order | undefined): Promise<void> {
    const { ledger } = this.#options;
    if (this.#isLeftFrozen(vmId)) {
      await this.#thaw(vmId);
    }
    if (!order || this.#stopped) return;
    // An agent before this one carried it out, and may have been too late for its snapshot.
    if (ledger.facts(vmId).freeze?.id === order.id) return this.#end(order, 'EXPIRED');
    await ledger.updateFacts(vmId, { freeze: { id: order.id, isThawed: false } });
    await this.#carryOut(order);
  }

  async #carryOut(order: Order): Promise<void> {
    const { hypervisor, clock, log } = this.#options;
    const { id, vmId } = order;
    const untilMs = clock.nowMs() + order.timeLimitSeconds * 1_000;
    let frozen: number;
    try {
      frozen = await hypervisor.freezeGuest(vmId);
    } catch (error) {
      log.warn({ error, vm_id: vmId, snapshot_id: id }, 'guest not frozen');
      this.#end(order, 'FAILED', failureOf(error, null, clock.nowMs()));
      await this.#thaw(vmId, THAWS_AFTER_FAILURE);
      return;
    }
    this.#end(order, 'FROZEN');
    const current = () => this.#orders.find((each) => each.id === id);
    while (!this.#stopped && current()?.release === false && clock.nowMs() < untilMs) {
      await this.#alarm.sleep(untilMs - clock.nowMs());
    }
    const isInTime = current()?.release === true && clock.nowMs() < untilMs;
    const thawed = await this.#thaw(vmId);
    // A guest that was reset meanwhile has nothing to thaw.
    const isHeld = isInTime && thawed === frozen;
    log.info(
      { vm_id: vmId, snapshot_id: id, file_systems: frozen, is_held: isHeld },
      'guest thawed',
    );
    this.#end(order, isHeld ? 'RELEASED' : 'EXPIRED');
  }

  /**
   * Returns how many file systems were thawed; zero if the guest does not run any more, or was given up. An agent that is
   * stopped before the guest was thawed leaves it to the next one.
   */
  async #thaw(vmId: string, attempts = Number.POSITIVE_INFINITY): Promise<number> {
    const { hypervisor, ledger, log } = this.#options;
    let thawed = 0;
    for (let attempt = 1; ; attempt += 1) {
      try {
        thawed = await hypervisor.thawGuest(vmId);
        break;
      } catch (error) {
        const domain = await hypervisor.read(vmId).catch(() => undefined);
        if (domain === null || (domain && domain.state !== 'running')) break;
        log.warn({ error, vm_id: vmId, attempt }, 'guest not thawed; will be retried');
        if (this.#stopped) return 0;
        if (attempt >= attempts) break;
        await this.#alarm.sleep(RETRY_MS);
      }
    }
    await ledger.changeFacts(vmId, ({ freeze }) =>
      freeze ? { freeze: { ...freeze, isThawed: true } } : {},
    );
    return thawed;
  }

  #end({ id }: Order, state: Outcome['state'], failure: Failure | null = null): void {
    this.#outcomes.set(id, { state, failure });
    if (!this.#stopped) this.#options.changed();
  }

  #isLeftFrozen(vmId: string): boolean {
    return this.#options.ledger.facts(vmId).freeze?.isThawed === false;
  }
}

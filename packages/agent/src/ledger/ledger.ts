import type { DeviceReceipt__Output } from '@gantry/proto/generated/gantry/v1/DeviceReceipt';
import type { GuestHardware } from '../host-driver.ts';
import type { HostSpec, InterfaceSpec, VmSpec } from '../spec.ts';

/**
 * What the host remembers: the last accepted spec, and the facts about each VM that cannot be read
 * from the host. `content` is always durable: an update becomes visible after it was written, so
 * the agent never acts on or reports something that a crash could undo.
 */
export type LedgerContent = {
  version: 1;
  spec: HostSpec | null;
  vms: Record<string, VmFacts>;
  /** The VMs of the spec that were refused. Absent in a ledger of an earlier version: none. */
  refused?: Record<string, RefusedVm>;
  /**
   * The last order by which each disk was set back to a snapshot. An order that comes again, because the database was
   * restored to an earlier state, is not repeated. Absent: none.
   */
  restoredDisks?: Record<string, string>;
};

/** The refused entry of one VM: its revision, and the reason. */
export type RefusedVm = {
  revision: string;
  failure: { code: string; message: string; sinceMs: number };
};

export type VmFacts = {
  /**
   * The generation for which its domain was last started; "0" if it was never started. The domain's
   * own value takes precedence.
   */
  generation: string;
  /**
   * The host's boot id at that time: a domain that ended because its host went down did not crash.
   */
  hostBootId: string;
  /** Whether it was found ended since then without an order to end. */
  crashed: boolean;
  /** When the guest was asked to shut down; 0 if it was not. */
  shutdownAskedMs: number;
  /** Revision of the take-down that was carried out; empty if none was. */
  takenDownRevision: string;
  receipts: DeviceReceipt__Output[];
  /** Disks that were created here for the VM, or were about to be: they may exist on this host. */
  madeDisks: string[];
  /** Interfaces that the VM has on the host. They are filtered for as long as they exist. */
  interfaces: InterfaceSpec[];
  /**
   * The virtual hardware of its domain, until the VM is taken down. Null or absent: it has none yet,
   * or an earlier version of the agent defined it.
   */
  hardware?: GuestHardware | null;
  /** The last order to freeze the guest, and whether it is certain that it is thawed. Null or absent: there was none. */
  freeze?: { id: string; isThawed: boolean } | null;
  /**
   * The last entry of a VM that the spec does not name any more, for the operator who decides about
   * it. Null or absent: the spec names the VM, or its last entry is not known.
   */
  lastEntry?: VmSpec | null;
};

export const NO_FACTS: VmFacts = {
  generation: '0',
  hostBootId: '',
  crashed: false,
  shutdownAskedMs: 0,
  takenDownRevision: '',
  receipts: [],
  madeDisks: [],
  interfaces: [],
};

/** Where the content is stored. `read` returns null before the first write. */
export type LedgerStore = {
  read(): Promise<LedgerContent | null>;
  write(content: LedgerContent): Promise<void>;
};

type Change = (content: LedgerContent) => LedgerContent;
type Waiting = { change: Change; done: () => void; failed: (error: unknown) => void };

export class Ledger {
  readonly #store: LedgerStore;
  #content: LedgerContent;
  #waiting: Waiting[] = [];
  #writing = false;
  #dead = false;

  constructor(store: LedgerStore, content: LedgerContent | null) {
    this.#store = store;
    this.#content = content ?? { version: 1, spec: null, vms: {} };
  }

  get content(): LedgerContent {
    return this.#content;
  }

  facts(vmId: string): VmFacts {
    return this.#content.vms[vmId] ?? NO_FACTS;
  }

  /** Changes made during a write share the next write. */
  update(change: Change): Promise<void> {
    return new Promise((done, failed) => {
      if (this.#dead) return;
      this.#waiting.push({ change, done, failed });
      if (!this.#writing) void this.#write();
    });
  }

  updateFacts(vmId: string, facts: Partial<VmFacts>): Promise<void> {
    return this.changeFacts(vmId, () => facts);
  }

  /** For a change that depends on facts which other work may be changing. */
  changeFacts(vmId: string, change: (facts: VmFacts) => Partial<VmFacts>): Promise<void> {
    return this.update((content) => {
      const facts = content.vms[vmId] ?? NO_FACTS;
      return { ...content, vms: { ...content.vms, [vmId]: { ...facts, ...change(facts) } } };
    });
  }

  /** From now on nothing is written and no update returns, as if the process had died. */
  die(): void {
    this.#dead = true;
    this.#waiting = [];
  }

  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        let next = this.#content;
        for (const { change } of batch) next = change(next);
        await this.#store.write(next);
        if (this.#dead) return;
        this.#content = next;
        for (const { done } of batch) done();
      } catch (error) {
        for (const { failed } of batch) failed(error);
      }
    }
    this.#writing = false;
  }
}

import type { LedgerContent, LedgerStore } from '@gantry/agent/ledger/ledger';

/** A ledger that outlives its agent but not the process: thousands of hosts share one disk badly. */
export class MemoryLedger implements LedgerStore {
  #content: LedgerContent | null = null;

  async read(): Promise<LedgerContent | null> {
    return this.#content;
  }

  async write(content: LedgerContent): Promise<void> {
    this.#content = content;
  }
}

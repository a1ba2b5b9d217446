import type { LedgerContent, LedgerStore } from '@gantry/agent/ledger/ledger';

/** A ledger in memory. It outlives its agent, and thousands of hosts need no disk for it. */
export class MemoryLedger implements LedgerStore {
  #content: LedgerContent | null = null;

  async read(): Promise<LedgerContent | null> {
    return this.#content;
  }

  async write(content: LedgerContent): Promise<void> {
    this.#content = content;
  }
}

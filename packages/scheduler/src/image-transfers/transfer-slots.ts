/** Too many transfers run: the host tries again later, or another scheduler. */
export class TooManyTransfers extends Error {
  override name = 'TooManyTransfers';
}

/** Each transfer uses a disk and a share of the network. */
const MOST = 16;
/** An agent has two exports and two downloads at most. */
const MOST_PER_HOST = 4;

/** Limits the transfers of a scheduler, so that no host takes all of them. */
export class TransferSlots {
  readonly #running = new Map<string, Set<Promise<void>>>();

  async use(hostId: string, transfer: () => Promise<void>): Promise<void> {
    const ofHost = this.#running.get(hostId) ?? new Set();
    const all = [...this.#running.values()].reduce((sum, { size }) => sum + size, 0);
    if (ofHost.size >= MOST_PER_HOST || all >= MOST)
      throw new TooManyTransfers('too many images are transferred now');
    const running = transfer();
    ofHost.add(running);
    this.#running.set(hostId, ofHost);
    try {
      await running;
    } finally {
      ofHost.delete(running);
      if (ofHost.size === 0) this.#running.delete(hostId);
    }
  }

  async idle(): Promise<void> {
    const all = [...this.#running.values()].flatMap((ofHost) => [...ofHost]);
    await Promise.allSettled(all);
  }
}

/** Admits a limited number of holders at a time, in order of arrival. The others wait. */
export class ConcurrencyGate<Holder> {
  readonly #limit: number;
  readonly #inside = new Set<Holder>();
  readonly #waiting = new Map<Holder, () => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves when the holder is admitted, or when it leaves before that. */
  enter(holder: Holder): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(holder, resolve);
      this.#admit();
    });
  }

  /** May be called at any time: while the holder is admitted, waits, or never entered. */
  leave(holder: Holder): void {
    this.#waiting.get(holder)?.();
    this.#waiting.delete(holder);
    if (this.#inside.delete(holder)) this.#admit();
  }

  #admit(): void {
    for (const [holder, resolve] of this.#waiting) {
      if (this.#inside.size >= this.#limit) return;
      this.#waiting.delete(holder);
      this.#inside.add(holder);
      resolve();
    }
  }
}

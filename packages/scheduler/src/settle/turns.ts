/** Lets so many in at a time, in the order they came; the others wait. */
export class Turns<Guest> {
  readonly #limit: number;
  readonly #inside = new Set<Guest>();
  readonly #waiting = new Map<Guest, () => void>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves when it is in, or has left without. */
  enter(guest: Guest): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.set(guest, resolve);
      this.#letIn();
    });
  }

  /** Whether it was in, still waited, or never came. */
  leave(guest: Guest): void {
    this.#waiting.get(guest)?.();
    this.#waiting.delete(guest);
    if (this.#inside.delete(guest)) this.#letIn();
  }

  #letIn(): void {
    for (const [guest, go] of this.#waiting) {
      if (this.#inside.size >= this.#limit) return;
      this.#waiting.delete(guest);
      this.#inside.add(guest);
      go();
    }
  }
}

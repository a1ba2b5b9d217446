/** What a host reports about the spec that it has accepted, or whose firewall is in force. */
export type ReportedSpec = { number: string; hash: string };

/** An agent that does not acknowledge specs for long acknowledges one of the last. */
const MAX_KEPT = 64;

/**
 * The specs that were sent on one stream. A report proves something only about them: a number alone
 * proves nothing, because a database that lost commits issues numbers again with other content.
 */
export class SentSpecs {
  readonly #hashes = new Map<number, string>();
  #last = 0;
  #era = 0;
  /** The number that the host had accepted when the stream began; negative before its first report. */
  #first = -1;
  #waitingSinceMs: number | null = null;

  /** The number of the last spec sent. Zero: none yet. */
  get lastNumber(): number {
    return this.#last;
  }

  /** Returns false if the database went back: it has issued a later spec, or this number, before. */
  record({ era, number, hash }: { era: number; number: number; hash: string }): boolean {
    const known = this.#hashes.get(number);
    if (number < this.#last || (known !== undefined && known !== hash)) return false;
    this.#era = era;
    this.#last = number;
    this.#waitingSinceMs ??= performance.now();
    this.#hashes.set(number, hash);
    for (const old of this.#hashes.keys()) {
      if (this.#hashes.size <= MAX_KEPT) break;
      this.#hashes.delete(old);
    }
    return true;
  }

  /** Returns whether the host has accepted a spec of an era that this database does not have yet. */
  isBeforeEra(era: string): boolean {
    return this.#last !== 0 && this.#era < Number(era);
  }

  /** Notes what the host had accepted when the stream began. Later reports have no effect. */
  noteFirst({ number }: ReportedSpec): void {
    if (this.#first < 0) this.#first = Number(number);
  }

  /**
   * Returns whether the host is ahead: it has accepted a spec that is not older than the last one sent,
   * and that was not sent here.
   */
  isAhead(accepted: ReportedSpec): boolean {
    if (this.#last === 0 || this.isProof(accepted)) return false;
    return Number(accepted.number) >= this.#last;
  }

  /** When the oldest spec was sent that the host has not acknowledged; null if there is none. */
  get waitingSinceMs(): number | null {
    return this.#waitingSinceMs;
  }

  /** Whether a spec was sent that the host has not acknowledged. */
  get isWaiting(): boolean {
    return this.#waitingSinceMs !== null;
  }

  /** Returns whether the host has let a spec wait for longer than this. */
  isWaitingSince(ms: number): boolean {
    return this.#waitingSinceMs !== null && this.#waitingSinceMs < ms;
  }

  /** The host has accepted this spec. */
  acknowledge({ number }: ReportedSpec): void {
    this.#waitingSinceMs = Number(number) >= this.#last ? null : performance.now();
  }

  /**
   * An agent of an earlier version reports no hash. Its number counts if it was accepted on this
   * stream.
   */
  isProof({ number, hash }: ReportedSpec): boolean {
    const sent = this.#hashes.get(Number(number));
    if (sent === undefined) return false;
    return hash === '' ? Number(number) > this.#first : hash === sent;
  }

  /** The host will not report specs before this one again. */
  forgetBefore(number: string): void {
    for (const old of this.#hashes.keys()) if (old < Number(number)) this.#hashes.delete(old);
  }
}

import type { SerialLog } from '@gantry/proto/generated/gantry/v1/SerialLog';
import type { Hypervisor } from '../host-driver.ts';

/** The wire's limit for one tail. */
const TAIL_BYTES = 65_536;

/**
 * Tracks which VMs' serial logs have grown since they were last sent, and when each may be sent
 * again.
 */
export class SerialLogs {
  readonly #everyMs: number;
  readonly #grown = new Set<string>();
  readonly #sentMs = new Map<string, number>();

  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  grew(vmId: string): void {
    this.#grown.add(vmId);
  }

  /** Returns when the next tail is due, or null if no log has grown. */
  nextMs(nowMs: number): number | null {
    let next: number | null = null;
    for (const vmId of this.#grown) {
      const dueMs = Math.max(nowMs, (this.#sentMs.get(vmId) ?? -this.#everyMs) + this.#everyMs);
      if (next === null || dueMs < next) next = dueMs;
    }
    return next;
  }

  /** Returns the tails that are due. */
  async take(hypervisor: Hypervisor, nowMs: number): Promise<SerialLog[]> {
    const logs: SerialLog[] = [];
    for (const vmId of [...this.#grown]) {
      const sentMs = this.#sentMs.get(vmId);
      if (sentMs !== undefined && nowMs < sentMs + this.#everyMs) continue;
      this.#grown.delete(vmId);
      const tail = tailOf(await hypervisor.readSerialLog(vmId));
      // A VM that is gone has no log and is forgotten.
      if (tail === '') this.#sentMs.delete(vmId);
      else {
        this.#sentMs.set(vmId, nowMs);
        logs.push({ vmId, tail });
      }
    }
    return logs;
  }
}

export function tailOf(text: string): string {
  if (Buffer.byteLength(text) <= TAIL_BYTES) return text;
  const tail = Buffer.from(text).subarray(-TAIL_BYTES);
  let start = 0;
  // Does not start within a character.
  while (((tail[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return tail.toString('utf8', start);
}

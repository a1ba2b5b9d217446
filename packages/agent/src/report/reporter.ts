import type { AgentUpgradeReport } from '@gantry/proto/generated/gantry/v1/AgentUpgradeReport';
import type { HostReport } from '@gantry/proto/generated/gantry/v1/HostReport';
import type { Inventory } from '@gantry/proto/generated/gantry/v1/Inventory';
import type { HostContext } from '../reconcile/host-context.ts';
import type { LastKnownDomains } from './last-known-domains.ts';
import { SerialLogs } from './serial-logs.ts';

type ReporterOptions = {
  host: Pick<HostContext, 'driver' | 'clock' | 'timings' | 'log'>;
  domains: LastKnownDomains;
  build: () => Promise<HostReport>;
  send: (report: HostReport) => boolean;
  /** The last order to replace the agent; null if there was none. */
  upgrade?: () => AgentUpgradeReport | null;
};

/**
 * Sends a complete report soon after a change. Many changes share one report, and only one report
 * is built at a time. An idle host causes no work; if the domains could not be listed, the reporter
 * tries again.
 */
export class Reporter {
  readonly #options: ReporterOptions;
  readonly #serialLogs: SerialLogs;
  #cancel: (() => void) | null = null;
  #dueMs = 0;
  #sending = false;
  #changed = false;
  #attached = false;
  /** Counts streams, to detect that a new one has started. */
  #stream = 0;
  /** The last stream that received its first report. */
  #begun = 0;
  #withInventory = false;
  #stopped = false;

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#serialLogs = new SerialLogs(options.host.timings.serialLogMs);
  }

  /** A new stream needs everything. */
  attached(): void {
    this.#stream += 1;
    this.#attached = true;
    this.#withInventory = true;
    this.#changed = true;
    this.#schedule(0);
  }

  inventoryChanged(): void {
    this.#withInventory = true;
    this.changed();
  }

  changed(): void {
    this.#changed = true;
    this.#schedule(this.#options.host.timings.reportMs);
  }

  serialLogGrew(vmId: string): void {
    this.#serialLogs.grew(vmId);
    this.#scheduleSerialLogs();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
  }

  #schedule(delayMs: number): void {
    // Changes before the first stream need no timer: a stream starts with a complete report.
    if (this.#stopped || this.#sending || !this.#attached) return;
    const { clock } = this.#options.host;
    const dueMs = clock.nowMs() + delayMs;
    if (this.#cancel && this.#dueMs <= dueMs) return;
    this.#cancel?.();
    this.#dueMs = dueMs;
    this.#cancel = clock.after(delayMs, () => void this.#send());
  }

  #scheduleSerialLogs(): void {
    const { clock, timings } = this.#options.host;
    const next = this.#serialLogs.nextMs(clock.nowMs());
    if (next !== null) this.#schedule(Math.max(next - clock.nowMs(), timings.reportMs));
  }

  async #send(): Promise<void> {
    const { host, domains: lastKnown } = this.#options;
    this.#cancel = null;
    this.#sending = true;
    this.#changed = false;
    let pauseMs = host.timings.reportMs;
    try {
      await this.#sendReport();
    } catch (error) {
      host.log.error({ error }, 'report could not be built; will be retried');
      this.#changed = true;
      pauseMs = host.timings.retryMs.at(-1) ?? pauseMs;
    }
    if (lastKnown.isOutdated) {
      this.#changed = true;
      pauseMs = host.timings.retryMs.at(-1) ?? pauseMs;
    }
    this.#sending = false;
    if (this.#changed) this.#schedule(pauseMs);
    this.#scheduleSerialLogs();
  }

  async #sendReport(): Promise<void> {
    const { host, build, send } = this.#options;
    const stream = this.#stream;
    const withInventory = this.#withInventory;
    const isFirst = this.#begun !== stream;
    if (isFirst) await this.#sendAllSerialLogs();
    const { volumes, snapshots } = host.driver;
    const storedDisks = isFirst ? await this.#list('disks', volumes) : null;
    const storedSnapshots = isFirst ? await this.#list('snapshots', snapshots) : null;
    const inventory = withInventory ? await this.#readInventory() : null;
    const serialLogs = await this.#serialLogs.take(host.driver.hypervisor, host.clock.nowMs());
    // Built last, so that it is as recent as possible.
    const report = await build();
    // A stream that has started meanwhile must start with the inventory.
    if (this.#stopped || stream !== this.#stream) return;
    this.#attached = send({ ...report, serialLogs, inventory, storedDisks, storedSnapshots });
    if (!this.#attached) return;
    this.#begun = stream;
    if (withInventory) this.#withInventory = false;
  }

  async #readInventory(): Promise<Inventory> {
    const { host, upgrade } = this.#options;
    const inventory = await host.driver.readInventory();
    const last = upgrade?.() ?? null;
    return last ? { ...inventory, software: { ...inventory.software, upgrade: last } } : inventory;
  }

  /** Storage that cannot be read must not keep the host from reporting. */
  async #list(
    what: string,
    stored: { list(): Promise<string[]> },
  ): Promise<{ ids: string[] } | null> {
    try {
      return { ids: await stored.list() };
    } catch (error) {
      const { log } = this.#options.host;
      log.warn({ error }, `${what} could not be listed; the report does not contain them`);
      return null;
    }
  }

  async #sendAllSerialLogs(): Promise<void> {
    const { domains } = await this.#options.domains.refresh();
    for (const { vmId } of domains ?? []) this.#serialLogs.grew(vmId);
  }
}

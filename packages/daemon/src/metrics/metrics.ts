import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { within } from '../within.ts';

/** One series of a metric. */
export type Sample<Label extends string> = { labels: Record<Label, string>; value: number };

type Definition<Label extends string> = { name: string; help: string; labels?: readonly Label[] };
/** Read at each scrape. A series that is not returned disappears. */
type Read<Label extends string> = () => number | readonly Sample<Label>[];

/** A scrape waits this long for what must be read first. Prometheus gives up after ten seconds. */
const PREPARE_LIMIT_MS = 5_000;

/**
 * The metrics of a process, in the format of Prometheus. Labels have few values that are known
 * beforehand, never the id of a VM or of a tenant, so that the number of series is bounded.
 */
export class Metrics {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #registry = new Registry();
  readonly #preparations: (() => Promise<void>)[] = [];
  #rendering: Promise<string> | null = null;

  counter<Label extends string = never>(definition: Definition<Label>): Counter<Label> {
    return new Counter(this.#options(definition));
  }

  histogram<Label extends string = never>({
    buckets,
    ...definition
  }: Definition<Label> & { buckets: number[] }): Histogram<Label> {
    return new Histogram({ ...this.#options(definition), buckets });
  }

  gaugeOf<Label extends string = never>({
    read,
    ...definition
  }: Definition<Label> & { read: Read<Label> }): void {
    const hasLabels = definition.labels !== undefined;
    new Gauge({
      ...this.#options(definition),
      collect() {
        this.reset();
        const found = read();
        if (typeof found === 'number') this.set(found);
        // A gauge without labels has the value zero after a reset.
        else if (!hasLabels) this.remove();
        else for (const { labels, value } of found) this.set(labels, value);
      },
    });
  }

  /** A total that something else counts. */
  counterOf<Label extends string = never>({
    read,
    ...definition
  }: Definition<Label> & { read: Read<Label> }): void {
    new Counter({
      ...this.#options(definition),
      collect() {
        this.reset();
        const found = read();
        if (typeof found === 'number') this.inc(found);
        else for (const { labels, value } of found) this.inc(labels, value);
      },
    });
  }

  /** Calls the function before each scrape. It must not throw. A scrape does not wait for a slow one. */
  beforeScrape(prepare: () => Promise<void>): void {
    this.#preparations.push(prepare);
  }

  /** Scrapes at the same time share one result. */
  async render(): Promise<string> {
    this.#rendering ??= this.#render().finally(() => {
      this.#rendering = null;
    });
    return await this.#rendering;
  }

  async #render(): Promise<string> {
    await within(PREPARE_LIMIT_MS, Promise.all(this.#preparations.map((prepare) => prepare())));
    return await this.#registry.metrics();
  }

  #options<Label extends string>({ name, help, labels = [] }: Definition<Label>) {
    return { name, help, labelNames: [...labels], registers: [this.#registry] };
  }
}

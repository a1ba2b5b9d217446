import { setTimeout as delay } from 'node:timers/promises';
import { FaultyCloud } from '@gantry/testkit/faults/faulty-cloud';
import { Checker } from './checker.ts';
import { FAULTS, type Fault, type Heal } from './faults.ts';
import { describeStandstill, LONG_STANDSTILL_MS } from './long-standstill.ts';
import { Random } from './random.ts';
import { Workload } from './workload.ts';

/**
 * A cloud under load for any number of schedules. A schedule is: clients write all the time, one or
 * two faults at once, healed after a while, the first success after that, then silence and a check.
 * The seed fixes the requests and the faults, and not how the processes interleave.
 */
export type Outcome = {
  seed: number;
  faults: Fault[];
  /** The longest time without a success, from the beginning of the faults to the first after them. */
  standstillMs: number;
  /** How long the faults lasted. */
  faultMs: number;
  writes: number;
  problems: string[];
};

/** Shorter than in production, so that a fault of a second lasts longer than all of them. */
const SCHEDULER_ENV = { GANTRY_LEASE_TTL_MS: '1000', GANTRY_UNREACHABLE_AFTER_MS: '1500' };
const FLEET_ENV = {
  ...{ GANTRY_FLEET_BOOT_MS: '20', GANTRY_FLEET_SHUTDOWN_MS: '20', GANTRY_FLEET_ERASE_MS: '20' },
};
const FAULT_MS = { least: 300, most: 2_500 };
/** Every operation ends, so a cloud without a success for this long has stalled. */
const SUCCESS_LIMIT_MS = 60_000;

export class CloudUnderLoad {
  readonly cloud: FaultyCloud;
  readonly #workload: Workload;
  readonly #checker: Checker;
  readonly #random: Random;

  private constructor(parts: {
    cloud: FaultyCloud;
    workload: Workload;
    checker: Checker;
    random: Random;
  }) {
    this.cloud = parts.cloud;
    this.#workload = parts.workload;
    this.#checker = parts.checker;
    this.#random = parts.random;
  }

  static async start(seed: number): Promise<CloudUnderLoad> {
    const cloud = await FaultyCloud.start({
      ...{ apis: 2, schedulers: 3, replica: true },
      fleets: ['eu-north-a:a40-8=2', 'us-east-a:a40-8=1'],
      ...{ schedulerEnv: SCHEDULER_ENV, fleetEnv: FLEET_ENV },
    });
    const random = new Random(seed);
    const workload = await Workload.open(cloud, random);
    const checker = await Checker.open(cloud, workload);
    return new CloudUnderLoad({ cloud, workload, checker, random });
  }

  get outcomes(): ReadonlyMap<string, number> {
    return this.#workload.client.outcomes;
  }

  async run(seed: number, only?: readonly Fault[]): Promise<Outcome> {
    const random = new Random(seed);
    const faults = only ?? chooseFaults(random);
    const before = this.#workload.acknowledged.length;
    await this.#workload.refresh();
    this.#workload.start();
    const problems: string[] = [];
    const { beganMs, healedMs } = await this.#inject(faults, random);
    const hasSucceeded = await this.#untilSuccess(healedMs);
    if (!hasSucceeded) problems.push(`no operation succeeded in ${SUCCESS_LIMIT_MS} ms`);
    problems.push(...(await this.#checker.checkNow()));
    await this.#workload.stop();
    problems.push(...(await this.#checker.checkQuiet()));
    return {
      ...{ seed, faults: [...faults], problems },
      standstillMs: longestGap(this.#workload.successes, beganMs, healedMs),
      faultMs: healedMs - beganMs,
      writes: this.#workload.acknowledged.length - before,
    };
  }

  async stop(): Promise<void> {
    await this.#workload.stop();
    await this.cloud.stop();
  }

  async #inject(faults: readonly Fault[], random: Random) {
    await this.#untilSuccess(performance.now());
    const beganMs = performance.now();
    const heals: { fault: Fault; heal: Heal }[] = [];
    for (const fault of faults) {
      heals.push({ fault, heal: await fault.inject(this.cloud, random) });
      await delay(random.between(FAULT_MS.least, FAULT_MS.most));
    }
    heals.sort((a, b) => FAULTS.indexOf(a.fault) - FAULTS.indexOf(b.fault));
    for (const { heal } of heals) await heal();
    return { beganMs, healedMs: performance.now() };
  }

  async #untilSuccess(afterMs: number): Promise<boolean> {
    const isSince = () => (this.#workload.successes.at(-1) ?? 0) > afterMs;
    const isWithin = (limitMs: number) => performance.now() < afterMs + limitMs;
    while (!isSince() && isWithin(LONG_STANDSTILL_MS)) await delay(20);
    if (!isSince()) {
      const described = await describeStandstill(this.cloud).catch(String);
      const replies = JSON.stringify([...this.outcomes]);
      process.stderr.write(`A long standstill. Replies: ${replies}\n${described}\n`);
    }
    while (!isSince() && isWithin(SUCCESS_LIMIT_MS)) await delay(20);
    return isSince();
  }
}

function chooseFaults(random: Random): Fault[] {
  const first = random.weighted(FAULTS);
  if (first.alone || random.below(3) > 0) return [first];
  const others = FAULTS.filter(({ alone, target }) => !alone && target !== first.target);
  return [first, random.weighted(others)];
}

/** The longest time without a success between two moments, until the first success after them. */
export function longestGap(successes: readonly number[], fromMs: number, toMs: number): number {
  const inside = successes.filter((at) => at > fromMs).sort((a, b) => a - b);
  const last = inside.findIndex((at) => at > toMs);
  const moments = [fromMs, ...inside.slice(0, last < 0 ? undefined : last + 1)];
  return Math.max(0, ...moments.slice(1).map((at, i) => at - (moments[i] ?? at)));
}

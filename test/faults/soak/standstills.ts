import { setTimeout as delay } from 'node:timers/promises';
import { FaultyCloud } from '@gantry/testkit/faults/faulty-cloud';
import { suspendProcess } from '@gantry/testkit/faults/suspend-process';
import { findLeaseHolder } from '@gantry/testkit/processes/lease-holder';
import { Random } from './random.ts';
import { longestGap } from './schedule.ts';
import { Workload } from './workload.ts';

/** How long no operation succeeded because of a fault, and how long it may be. */
export type Standstill = {
  fault: string;
  standstillMs: number;
  limitMs: number;
  /**
   * The longest time for which this process itself got no processor. It is part of the standstill, and
   * the machine is its cause.
   */
  stallMs: number;
};

/** The time for which a host may be attached to a scheduler that hangs. */
const ATTACH_LIMIT_MS = 5_000;
const SUCCESS_LIMIT_MS = 120_000;

/** A cloud with the limits of production, and clients that write all the time. */
export class BusyCloud {
  readonly #cloud: FaultyCloud;
  readonly #workload: Workload;

  private constructor(cloud: FaultyCloud, workload: Workload) {
    this.#cloud = cloud;
    this.#workload = workload;
  }

  static async start(): Promise<BusyCloud> {
    const cloud = await FaultyCloud.start({
      ...{ apis: 2, schedulers: 3, fleets: ['eu-north-a:a40-8=3'] },
      fleetEnv: { GANTRY_FLEET_BOOT_MS: '20', GANTRY_FLEET_SHUTDOWN_MS: '20' },
    });
    const workload = await Workload.open(cloud, new Random(1));
    workload.start();
    return new BusyCloud(cloud, workload);
  }

  async stop(): Promise<void> {
    await this.#workload.stop();
    await this.#cloud.stop();
  }

  async restartPostgres(): Promise<Standstill> {
    let outageMs = 0;
    const measured = await this.#measure(async () => {
      const beganMs = performance.now();
      await this.#cloud.servers.restart({ downMs: 1_000 });
      outageMs = performance.now() - beganMs;
    });
    const fault = `PostgreSQL restarted, away for ${(outageMs / 1_000).toFixed(1)} s`;
    return { fault, ...measured, limitMs: outageMs + 1_000 };
  }

  /** Suspends the scheduler that places VMs. Returns also how long hosts stayed attached to it. */
  async suspendScheduler({ forMs }: { forMs: number }): Promise<Standstill[]> {
    const { sql, schedulers } = this.#cloud;
    const process = await findLeaseHolder({
      ...{ sql, location: 'eu-north-a', schedulers: schedulers.map((one) => one.process) },
    });
    const countAttached = async () => {
      const rows = await sql`select from hosts where scheduler_id = ${process.id}`;
      return rows.length;
    };
    let attachedMs = 0;
    const measured = await this.#measure(async () => {
      const beganMs = performance.now();
      const resume = suspendProcess(process.pid);
      while ((await countAttached()) > 0 && performance.now() < beganMs + forMs) await delay(20);
      attachedMs = performance.now() - beganMs;
      await delay(Math.max(0, beganMs + forMs - performance.now()));
      resume();
    });
    const fault = `scheduler suspended for ${forMs / 1_000} s`;
    const { stallMs } = measured;
    return [
      { fault, ...measured, limitMs: 6_000 },
      {
        fault: `${fault}: until its hosts are attached elsewhere`,
        ...{ standstillMs: attachedMs, limitMs: ATTACH_LIMIT_MS, stallMs },
      },
    ];
  }

  /** Measures from the beginning of the fault to the first success after its end. */
  async #measure(fault: () => Promise<void>) {
    await this.#untilSuccess(performance.now());
    const stall = watchStalls();
    const beganMs = performance.now();
    await fault();
    const endedMs = performance.now();
    await this.#untilSuccess(endedMs);
    const standstillMs = longestGap(this.#workload.successes, beganMs, endedMs);
    return { standstillMs, stallMs: stall.end() };
  }

  async #untilSuccess(afterMs: number): Promise<void> {
    const endMs = performance.now() + SUCCESS_LIMIT_MS;
    while ((this.#workload.successes.at(-1) ?? 0) <= afterMs) {
      if (performance.now() > endMs) throw new Error('no operation succeeded in two minutes');
      await delay(10);
    }
  }
}

const TICK_MS = 20;

/** Measures by how much a timer of this process is late. */
function watchStalls(): { end(): number } {
  let worstMs = 0;
  let lastMs = performance.now();
  const timer = setInterval(() => {
    const nowMs = performance.now();
    worstMs = Math.max(worstMs, nowMs - lastMs - TICK_MS);
    lastMs = nowMs;
  }, TICK_MS);
  return {
    end() {
      clearInterval(timer);
      return worstMs;
    },
  };
}

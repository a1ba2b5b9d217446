import { createLog } from '@gantry/daemon/log';
import type { FleetHandlers } from '@gantry/proto/generated/gantry/v1/Fleet';
import type { HostReport__Output } from '@gantry/proto/generated/gantry/v1/HostReport';
import type { HostSpec } from '@gantry/proto/generated/gantry/v1/HostSpec';
import { loadFleet } from '@gantry/proto/load';
import {
  credentials,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  status,
} from '@grpc/grpc-js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeSpec, makeVm } from '../testing/make-spec.ts';
import { type GrpcLinkOptions, grpcLink } from './grpc-link.ts';
import type { Link } from './link.ts';

const fleet = loadFleet();
const log = createLog({ process: 'test', level: 'silent' });
const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

type Stream = ServerDuplexStream<HostReport__Output, HostSpec>;

/** A scheduler that records every stream and the messages of each. */
class Scheduler {
  streams: { call: Stream; reports: HostReport__Output[]; closed: boolean }[] = [];
  port = 0;
  #server = new Server();
  refuse = false;

  async listen(port = 0): Promise<void> {
    this.#server = new Server();
    const Attach: FleetHandlers['Attach'] = (call) => {
      const stream = { call, reports: [] as HostReport__Output[], closed: false };
      this.streams.push(stream);
      if (this.refuse) {
        call.emit('error', { code: status.UNAUTHENTICATED, details: 'revoked' });
        return;
      }
      call.on('data', (report: HostReport__Output) => stream.reports.push(report));
      call.on('cancelled', () => {
        stream.closed = true;
      });
      call.on('end', () => {
        stream.closed = true;
      });
    };
    this.#server.addService(fleet.service, { Attach, Enroll: () => {} });
    this.port = await new Promise((resolve, reject) => {
      const insecure = ServerCredentials.createInsecure();
      this.#server.bindAsync(`127.0.0.1:${port}`, insecure, (error, bound) =>
        error ? reject(error) : resolve(bound),
      );
    });
    cleanups.push(() => this.#server.forceShutdown());
  }

  vanish(): void {
    this.#server.forceShutdown();
  }
}

async function schedulerHere(): Promise<Scheduler> {
  const scheduler = new Scheduler();
  await scheduler.listen();
  return scheduler;
}

/** A link whose agent sends one complete report on each stream. */
function attach(port: () => number, over: Partial<GrpcLinkOptions> = {}) {
  const specs: HostSpec[] = [];
  const made = { credentials: 0, attached: 0 };
  const link: Link = grpcLink({
    fleet,
    log,
    address: () => `127.0.0.1:${port()}`,
    credentials: () => {
      made.credentials += 1;
      return credentials.createInsecure();
    },
    backoff: { minMs: 1, maxMs: 20 },
    ...over,
  })({
    attached: () => {
      made.attached += 1;
      link.send({ acceptedNumber: made.attached, inventory: { sharedStorage: true } });
    },
    received: (spec) => specs.push(spec),
  });
  cleanups.push(() => link.end());
  return { link, specs, made };
}

const streams = (scheduler: Scheduler, count: number) =>
  expect
    .poll(() => scheduler.streams.filter(({ reports }) => reports.length > 0).length)
    .toBe(count);

describe('a link', () => {
  it('sends the first report with the inventory, and receives complete specs', async () => {
    const scheduler = await schedulerHere();
    const { specs } = attach(() => scheduler.port);
    await streams(scheduler, 1);
    expect(scheduler.streams[0]?.reports[0]).toMatchObject({ inventory: { sharedStorage: true } });
    const spec = makeSpec(7, { vms: [makeVm('vm-1', { image: null })] });
    scheduler.streams[0]?.call.write(spec);
    await expect.poll(() => specs).toEqual([spec]);
  });

  it('attaches again when its stream ends, and starts with a complete report', async () => {
    const scheduler = await schedulerHere();
    attach(() => scheduler.port);
    await streams(scheduler, 1);
    scheduler.streams[0]?.call.end();
    await streams(scheduler, 2);
    expect(scheduler.streams[1]?.reports[0]).toMatchObject({
      acceptedNumber: '2',
      inventory: { sharedStorage: true },
    });
  });

  it('finds a scheduler that disappeared and came back', async () => {
    const scheduler = await schedulerHere();
    const { link } = attach(() => scheduler.port);
    await streams(scheduler, 1);
    scheduler.vanish();
    await expect.poll(() => link.send({})).toBe(false);
    await scheduler.listen(scheduler.port);
    await streams(scheduler, 2);
  });

  it('uses another scheduler when the first is gone', async () => {
    const [first, second] = [await schedulerHere(), await schedulerHere()];
    let port = first.port;
    attach(() => port);
    await streams(first, 1);
    port = second.port;
    first.vanish();
    await streams(second, 1);
  });

  it('asks for no report while no scheduler is connected', async () => {
    const scheduler = await schedulerHere();
    scheduler.vanish();
    const { link, made } = attach(() => scheduler.port);
    await expect.poll(() => made.credentials).toBeGreaterThan(3);
    expect(made.attached).toBe(0);
    expect(link.send({})).toBe(false);
  });

  it('makes growing pauses while it is refused', async () => {
    const scheduler = await schedulerHere();
    scheduler.refuse = true;
    const warn = vi.spyOn(log, 'warn');
    attach(() => scheduler.port, { random: () => 1, backoff: { minMs: 2, maxMs: 16 } });
    await expect.poll(() => warn.mock.calls.length).toBeGreaterThan(4);
    const pauses = warn.mock.calls.map(([fields]) => (fields as { pause_ms?: number }).pause_ms);
    expect(pauses.slice(0, 5)).toEqual([2, 4, 8, 16, 16]);
    warn.mockRestore();
  });

  it('has a stream with the new certificate as soon as it is told to reattach', async () => {
    const scheduler = await schedulerHere();
    const { link, made } = attach(() => scheduler.port, { backoff: { minMs: 1e6, maxMs: 1e6 } });
    await streams(scheduler, 1);
    link.reattach();
    await streams(scheduler, 2);
    expect(made.credentials).toBe(2);
    await expect.poll(() => scheduler.streams[0]?.closed).toBe(true);
    expect(scheduler.streams[1]?.closed).toBe(false);
  });

  it('is quiet after its end', async () => {
    const scheduler = await schedulerHere();
    const { link, made } = attach(() => scheduler.port);
    await streams(scheduler, 1);
    link.end();
    await expect.poll(() => scheduler.streams[0]?.closed).toBe(true);
    expect(link.send({})).toBe(false);
    expect(made.attached).toBe(1);
  });
});

describe('heartbeats', () => {
  it('report that nothing changed, after the first report and between others', async () => {
    const scheduler = await schedulerHere();
    attach(() => scheduler.port, { heartbeatMs: 5 });
    await expect.poll(() => scheduler.streams[0]?.reports.length).toBeGreaterThan(3);
    const [first, ...others] = scheduler.streams[0]?.reports ?? [];
    expect(first?.unchanged).toBe(false);
    expect(others.every(({ unchanged, inventory }) => unchanged && inventory === null)).toBe(true);
  });

  it('start at a random time, and are then regular', async () => {
    const scheduler = await schedulerHere();
    const delays: number[] = [];
    const clock = {
      nowMs: () => Date.now(),
      after: (delayMs: number, run: () => void) => {
        delays.push(delayMs);
        const timer = setTimeout(run, Math.min(delayMs, 1));
        return () => clearTimeout(timer);
      },
    };
    attach(() => scheduler.port, { clock, random: () => 0.25 });
    await expect.poll(() => delays.length).toBeGreaterThan(3);
    expect(delays.slice(0, 4)).toEqual([0, 2_500, 10_000, 10_000]);
  });
});

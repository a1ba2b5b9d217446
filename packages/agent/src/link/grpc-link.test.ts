import { type AddressInfo, createServer, connect as dial, type Socket } from 'node:net';
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
import type { Neighbour } from '../spec.ts';
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
  const members = new Map<string, Neighbour[]>();
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
    receivedMembers: (networkId, list) => members.set(networkId, list),
  });
  cleanups.push(() => link.end());
  return { link, specs, members, made };
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

/** A way to a scheduler on which nothing passes any more after `hang`; no connection ends. */
async function wayTo(scheduler: Scheduler) {
  let hangs = false;
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    sockets.push(near);
    const far = dial({ host: '127.0.0.1', port: scheduler.port });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => !hangs && to.write(bytes));
      from.on('error', () => {});
      from.on('close', () => to.destroy());
      cleanups.push(() => from.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => server.close());
  return {
    port: (server.address() as AddressInfo).port,
    hang: () => {
      hangs = true;
    },
    cut: () => {
      for (const socket of sockets.splice(0)) socket.destroy();
    },
  };
}

describe('a scheduler that hangs', () => {
  it('is left within seconds', async () => {
    const [first, second] = [await schedulerHere(), await schedulerHere()];
    const way = await wayTo(first);
    let port = way.port;
    attach(() => port);
    await streams(first, 1);
    port = second.port;
    way.hang();
    const hungAt = performance.now();
    await streams(second, 1);
    // Pings need 4 s at most. The rest is for a busy machine.
    expect(performance.now() - hungAt).toBeLessThan(20_000);
  });

  it('is left although it accepts connections', async () => {
    const [first, second] = [await schedulerHere(), await schedulerHere()];
    const way = await wayTo(first);
    way.hang();
    const ports = [way.port];
    const triedAt = performance.now();
    attach(() => ports.pop() ?? second.port);
    await streams(second, 1);
    expect(performance.now() - triedAt).toBeLessThan(20_000);
    expect(first.streams).toHaveLength(0);
  });

  it('gets more time if it is only slow, so that hosts do not leave and return again and again', async () => {
    const slow = await schedulerHere();
    const way = await wayTo(slow);
    const timeouts: unknown[] = [];
    attach(() => way.port, { fleet: recordTimeouts(timeouts), backoff: { minMs: 1, maxMs: 1 } });
    await streams(slow, 1);
    for (const count of [2, 3, 4, 5, 6, 7]) {
      way.cut();
      await streams(slow, count);
    }
    expect(timeouts).toEqual([2_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000]);
  });

  it('is left as soon after others have ended streams themselves', async () => {
    const scheduler = await schedulerHere();
    const timeouts: unknown[] = [];
    const options = { fleet: recordTimeouts(timeouts), backoff: { minMs: 1, maxMs: 1 } };
    attach(() => scheduler.port, options);
    await streams(scheduler, 1);
    for (const count of [2, 3]) {
      scheduler.streams
        .at(-1)
        ?.call.emit('error', { code: status.ABORTED, details: 'no database' });
      await streams(scheduler, count);
    }
    expect(timeouts).toEqual([2_000, 2_000, 2_000]);
  });
});

/** The Fleet client, recording how long each of its channels waits for the reply to a ping. */
function recordTimeouts(timeouts: unknown[]): typeof fleet {
  return new Proxy(fleet, {
    construct(target, args: ConstructorParameters<typeof fleet>) {
      timeouts.push(args[2]?.['grpc.keepalive_timeout_ms']);
      return new target(...args);
    },
  });
}

describe('a spec in pieces', () => {
  const { responseSerialize } = fleet.service.Attach;
  const piece = (id: string) => ({ hash: id, content: responseSerialize({ vms: [{ id }] }) });
  const heldBy = (stream: Scheduler['streams'][number] | undefined) =>
    stream?.call.metadata.get('gantry-pieces');

  it('arrives complete, and the next stream names the spec whose pieces are here', async () => {
    const scheduler = await schedulerHere();
    const { specs } = attach(() => scheduler.port);
    await streams(scheduler, 1);
    expect(heldBy(scheduler.streams[0])).toEqual(['none']);
    const first = { number: 1, hash: 'of one', pieceHashes: ['a'], pieces: [piece('a')] };
    scheduler.streams[0]?.call.write(first);
    await expect.poll(() => specs.at(-1)?.vms?.map(({ id }) => id)).toEqual(['a']);
    scheduler.streams[0]?.call.end();
    await streams(scheduler, 2);
    expect(heldBy(scheduler.streams[1])).toEqual(['of one']);
  });

  it('of which one is missing leads to a new stream that asks for all of them', async () => {
    const scheduler = await schedulerHere();
    const { specs } = attach(() => scheduler.port);
    await streams(scheduler, 1);
    const pieces = [piece('a')];
    scheduler.streams[0]?.call.write({ number: 1, hash: 'x', pieceHashes: ['a'], pieces });
    scheduler.streams[0]?.call.write({ number: 2, hash: 'y', pieceHashes: ['a', 'b'] });
    await streams(scheduler, 2);
    expect(heldBy(scheduler.streams[1])).toEqual(['none']);
    expect(specs.map(({ number }) => number)).toEqual(['1']);
  });
});

describe('the VMs of a network', () => {
  const member = (privateIpv4: string, hostIpv4 = '192.0.2.1') => ({
    ...{ privateIpv4, mac: '02:00:00:00:00:01', hostIpv4 },
  });
  const change = (version: number, baseVersion: number, of: object) => ({
    members: [{ networkId: 'n', version, baseVersion, ...of }],
  });

  it('arrive as a whole first and then as changes', async () => {
    const scheduler = await schedulerHere();
    const { members, specs } = attach(() => scheduler.port);
    await streams(scheduler, 1);
    const call = scheduler.streams[0]?.call;
    call?.write(change(5, 0, { changed: [member('10.0.0.5'), member('10.0.0.6')] }));
    await expect.poll(() => members.get('n')).toHaveLength(2);
    const moved = member('10.0.0.6', '192.0.2.2');
    call?.write(change(6, 5, { changed: [moved, member('10.0.0.7')], removed: ['10.0.0.5'] }));
    await expect.poll(() => members.get('n')).toEqual([moved, member('10.0.0.7')]);
    expect(specs).toEqual([]);
  });

  it.each([
    ['with a change that was lost', change(7, 6, { removed: ['10.0.0.5'] })],
    [
      'of which the whole is missing',
      { members: [{ networkId: 'm', version: 2, baseVersion: 1 }] },
    ],
  ])('%s lead to a new stream', async (_, message) => {
    const scheduler = await schedulerHere();
    const { members } = attach(() => scheduler.port);
    await streams(scheduler, 1);
    scheduler.streams[0]?.call.write(change(5, 0, { changed: [member('10.0.0.5')] }));
    scheduler.streams[0]?.call.write(message);
    await streams(scheduler, 2);
    expect(members.get('n')).toEqual([member('10.0.0.5')]);
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

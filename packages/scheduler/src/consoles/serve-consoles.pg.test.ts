import type { Identity } from '@gantry/agent/identity/identity';
import { requestIdentity } from '@gantry/agent/identity/request-certificate';
import { newId } from '@gantry/model/ids';
import type {
  ConsoleBytes,
  ConsoleBytes__Output,
} from '@gantry/proto/generated/gantry/v1/ConsoleBytes';
import { type ClientDuplexStream, Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { AttachedHosts } from '../attached/attached-hosts.ts';
import {
  type Attached,
  attach,
  clientOf,
  log,
  makeToken,
  type Pair,
  recorder,
  secrets,
  startTestFleet,
  type TestFleet,
} from '../fleet/testing/test-fleet.ts';
import { hostHandlers } from '../host-handlers.ts';
import { serveConsoles } from './serve-consoles.ts';

/** Tests which callers may use which end of a console, over real TLS. */
let fleet: TestFleet;
let host: Identity;
let stranger: Identity;
let attached: Attached;
const hosts = new AttachedHosts();
const requested: string[] = [];
const opened: Console[] = [];

beforeAll(async () => {
  const request = (id: string) => requested.push(id);
  const delivering = {
    ...{ request, requestConsoles: request },
    leave() {},
    note() {},
    noteAll() {},
    async stop() {},
  };
  const clock = { nowMs: () => Date.now() };
  const consoles = serveConsoles({ log, secrets, clock, hosts, delivering });
  const recording = recorder();
  const closing = { add() {}, async stop() {} };
  const settling = { leave() {} };
  fleet = await startTestFleet({
    consoles,
    handlers: {
      ...recording,
      attached: (stream) => void hosts.add(stream, '1'),
      ended: hostHandlers({ hosts, settling, closing, delivering, log } as unknown as Parameters<
        typeof hostHandlers
      >[0]).ended,
    },
  });
  const enrol = async () =>
    requestIdentity({
      address: fleet.address,
      caPem: fleet.authority.certificatePem,
      hostname: '',
      token: await makeToken(fleet.sql),
    });
  host = await enrol();
  stranger = await enrol();
  attached = attach(fleet, host);
  attach(fleet, stranger);
  await vi.waitFor(() => expect(hosts.size).toBe(2), { timeout: 30_000 });
});
afterAll(() => fleet.stop());
afterEach(async () => {
  for (const { call } of opened.splice(0)) call.cancel();
  await vi.waitFor(() => expect(hosts.get(host.hostId)?.consoles.size ?? 0).toBe(0), 30_000);
});

type Console = {
  call: ClientDuplexStream<ConsoleBytes, ConsoleBytes__Output>;
  shown: string[];
  status: Promise<StatusObject>;
};

function call(rpc: 'console' | 'joinConsole', [name, value]: [string, string], pair?: Pair) {
  const client = clientOf(fleet, pair);
  const metadata = new Metadata();
  metadata.set(name, value);
  const stream = client[rpc](metadata);
  const shown: string[] = [];
  stream.on('data', ({ data, end }: ConsoleBytes__Output) => shown.push(`${data}${end}`));
  stream.on('error', () => {});
  const ended = new Promise<StatusObject>((resolve) => stream.once('status', resolve));
  void ended.then(() => client.close());
  opened.push({ call: stream, shown, status: ended });
  return { call: stream, shown, status: ended };
}

const pass = (vmId: string, { hostId = host.hostId, forMs = 10_000 } = {}) =>
  secrets.seal('console-pass', JSON.stringify({ vmId, hostId, expiresAtMs: Date.now() + forMs }));
const join = (sealed: string, pair?: Pair) =>
  call('joinConsole', ['gantry-console-pass', sealed], pair);
const open = (id: string, pair?: Pair) => call('console', ['gantry-console', id], pair);
/** Returns the id of the console in the host's spec, when an api waits for it. */
const consoleOf = async (vmId: string) => {
  const find = () =>
    [...(hosts.get(host.hostId)?.consoles.values() ?? [])].find((c) => c.vmId === vmId);
  await expect.poll(find).toBeDefined();
  return find()?.id ?? '';
};

it('the relay connects an api with a pass to the host, and either side closes the other', async () => {
  const vmId = newId();
  const api = join(pass(vmId));
  const agent = open(await consoleOf(vmId), host);
  expect(requested).toContain(host.hostId);
  api.call.write({ data: Buffer.from('typed') });
  agent.call.write({ data: Buffer.from('printed') });
  await expect.poll(() => [api.shown, agent.shown]).toEqual([['printed'], ['typed']]);
  agent.call.end({ end: 'vm_stopped' });
  expect((await api.status).code).toBe(status.OK);
  expect(api.shown).toEqual(['printed', 'vm_stopped']);

  const again = join(pass(vmId));
  const reopened = open(await consoleOf(vmId), host);
  reopened.call.write({ data: Buffer.from('x') });
  await expect.poll(() => again.shown).toEqual(['x']);
  again.call.cancel();
  expect((await reopened.status).code).toBe(status.OK);
});

it('a call without a pass, with an old or forged pass or with a host certificate is refused', async () => {
  const vmId = newId();
  const forged = secrets.seal('another purpose', JSON.stringify({ vmId, hostId: host.hostId }));
  for (const [sealed, pair] of [
    ['', undefined],
    ['', host],
    [forged, host],
    [pass(vmId, { forMs: -1 }), undefined],
  ] as const)
    expect((await join(sealed, pair).status).code).toBe(status.UNAUTHENTICATED);
  expect(hosts.get(host.hostId)?.consoles.size).toBe(0);
});

it('only the host of the VM can open its console, and only once', async () => {
  const vmId = newId();
  join(pass(vmId));
  const id = await consoleOf(vmId);
  expect((await open(id, stranger).status).code).toBe(status.NOT_FOUND);
  expect((await open(id).status).code).toBe(status.UNAUTHENTICATED);
  expect((await open(newId(), host).status).code).toBe(status.NOT_FOUND);
  const agent = open(id, host);
  agent.call.write({ data: Buffer.from('x') });
  await expect.poll(() => opened[0]?.shown).toEqual(['x']);
  expect((await open(id, host).status).code).toBe(status.NOT_FOUND);
});

it('a VM has at most four consoles, counted separately for each VM', async () => {
  const vmId = newId();
  const first = [1, 2, 3, 4].map(() => join(pass(vmId)));
  await expect.poll(() => hosts.get(host.hostId)?.consoles.size).toBe(4);
  expect((await join(pass(vmId)).status).code).toBe(status.RESOURCE_EXHAUSTED);
  join(pass(newId()));
  await expect.poll(() => hosts.get(host.hostId)?.consoles.size).toBe(5);
  first[0]?.call.cancel();
  await expect.poll(() => hosts.get(host.hostId)?.consoles.size).toBe(4);
  join(pass(vmId));
  await expect.poll(() => hosts.get(host.hostId)?.consoles.size).toBe(5);
});

it('the consoles of a host end with its stream, and a host without a stream has none', async () => {
  const vmId = newId();
  expect((await join(pass(vmId, { hostId: newId() })).status).code).toBe(status.UNAVAILABLE);
  const api = join(pass(vmId));
  const agent = open(await consoleOf(vmId), host);
  agent.call.write({ data: Buffer.from('x') });
  await expect.poll(() => api.shown).toEqual(['x']);
  attached.close();
  expect((await api.status).code).toBe(status.UNAVAILABLE);
  await agent.status;
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Firewall, HostNetwork } from '../host-driver.ts';
import { makeInterface, makeRule } from '../testing/make-spec.ts';
import type { Guest } from './testing/guest.ts';
import { type Lab, openLab } from './testing/lab.ts';
import { openStream, type StreamEnd } from './testing/stream.ts';

/** Connections on which both ends send all the time, while the rules change under them. */

const webInterface = makeInterface('web', {
  ...{ mac: '02:00:00:00:00:05', privateIpv4: '10.0.0.5/24', publicIpv4: '198.51.100.5' },
});
const appInterface = makeInterface('app', { mac: '02:00:00:00:00:06', privateIpv4: '10.0.0.6/24' });
const interfaces = [webInterface, appInterface];
const outgoing = makeRule('outgoing', {
  ...{ direction: 'DIRECTION_EGRESS', protocols: ['tcp', 'udp', 'icmp'], destinationPorts: [] },
});
const ssh = makeRule('ssh');
const web = makeRule('web', { destinationPorts: ['80'] });
const deny = { action: 'ACTION_DENY' } as const;

let lab: Lab;
let network: HostNetwork;
let atWeb: Guest;
let atApp: Guest;
const streams: StreamEnd[] = [];

beforeAll(async () => {
  lab = await openLab();
  network = lab.network();
  await network.applyFirewall({ rules: [], interfaces });
  atWeb = await lab.addGuest(webInterface);
  atApp = await lab.addGuest(appInterface);
  await network.ensureInterfaces('vm-web', [webInterface]);
  await network.ensureInterfaces('vm-app', [appInterface]);
});
afterEach(() => {
  for (const stream of streams.splice(0)) stream.end();
});
afterAll(() => lab?.close());

const apply = (rules: Firewall['rules']) => network.applyFirewall({ rules, interfaces });

type Way = { from: Guest; to: Guest; address: string };

async function connect({ from, to, address }: Way, port: number): Promise<StreamEnd[]> {
  const server = await openStream(to.netns, `${port}`);
  streams.push(server);
  const client = await openStream(from.netns, `${address}:${port}`);
  streams.push(client);
  await expectFlowing([server, client]);
  return [server, client];
}

const counts = (ends: readonly StreamEnd[]) => ends.map(({ receivedBytes }) => receivedBytes);

/** Both ends get something from now on. */
async function expectFlowing(ends: readonly StreamEnd[]): Promise<void> {
  const before = counts(ends);
  const grew = () => counts(ends).every((count, at) => count > (before[at] ?? 0));
  await expect.poll(grew, { timeout: 30_000 }).toBe(true);
}

/** Neither end gets anything, for as long as it takes the other connection to go on many times. */
async function expectStill(ends: readonly StreamEnd[], others: readonly StreamEnd[]) {
  // What had arrived before may still be on its way to this process.
  await expectFlowing(others);
  const before = counts(ends);
  for (let turn = 0; turn < 20; turn += 1) await expectFlowing(others);
  expect(counts(ends)).toEqual(before);
}

describe.each<[string, () => Way]>([
  ['between two guests', () => ({ from: atApp, to: atWeb, address: '10.0.0.5' })],
  [
    'from outside to a public address',
    () => ({ from: lab.outside, to: atWeb, address: '198.51.100.5' }),
  ],
])('an open connection %s', (_, way) => {
  it.each([
    ['the rule that allowed it goes', [outgoing, web]],
    ['another denies it', [outgoing, ssh, web, makeRule('no', deny)]],
    ['its source is no longer allowed', [outgoing, web, { ...ssh, sources: ['10.9.0.0/16'] }]],
  ])(
    'carries no byte in either direction once %s, and another one continues',
    async (__, rules) => {
      await apply([outgoing, ssh, web]);
      const cut = await connect(way(), 22);
      const kept = await connect(way(), 80);
      await apply(rules);
      await expectStill(cut, kept);
      await apply([outgoing, ssh, web]);
      await expectFlowing(cut);
      await expectFlowing(kept);
    },
  );
});

it('an open connection to outside carries no byte in either direction once its guest may not send', async () => {
  await apply([outgoing]);
  const way = { from: atApp, to: lab.outside, address: '192.0.2.2' };
  const cut = await connect(way, 443);
  const kept = await connect(way, 444);
  await apply([makeRule('some', { ...outgoing, id: 'some', destinationPorts: ['444'] })]);
  await expectStill(cut, kept);
  await apply([outgoing]);
  await expectFlowing(cut);
});

import { randomInt } from 'node:crypto';
import type { ResolvedRule } from '@gantry/model/firewall/match-rule';
import type { End } from '@gantry/model/firewall/plan-path';
import { type Question, tracePacket } from '@gantry/model/firewall/trace-packet';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { HostNetwork } from '../host-driver.ts';
import type { FirewallRule } from '../spec.ts';
import type { Guest } from './testing/guest.ts';
import { type Lab, openLab } from './testing/lab.ts';
import {
  endOf,
  INTERFACES,
  OUTSIDE,
  PORTS,
  packet,
  privateOf,
  type RandomPacket,
  rules,
  VMS,
} from './testing/random-traffic.ts';

/** Compares the trace that tenants see with what happens to real packets under random rules. */
const given = process.env['GANTRY_PROPERTY_SEED'] ?? '1';
const SEED = given === 'random' ? randomInt(2 ** 31) : Number(given);
const RUNS = Number(process.env['GANTRY_PROPERTY_RUNS'] ?? '30');
const PACKETS = 8;

let lab: Lab;
let network: HostNetwork;
const talkers = new Map<string, Guest>();
/** Each packet has another source port, so that none belongs to an earlier connection. */
let sent = 0;
const fates = { passed: 0, stopped: 0 };

beforeAll(async () => {
  lab = await openLab();
  network = lab.network();
  talkers.set('outside', lab.outside);
  // The outside routes public addresses back to the host, and tries private ones too.
  const router = ['net.ipv4.ip_forward=1', 'net.ipv4.conf.all.send_redirects=0'];
  await lab.outside.run('sysctl', '-qw', ...router, 'net.ipv4.conf.eth0.send_redirects=0');
  await lab.outside.run('ip', 'route', 'add', '10.0.0.0/23', 'via', '192.0.2.1');
  await lab.ip(`route add default via ${OUTSIDE}`);
  await network.applyFirewall({ rules: [], interfaces: Object.values(INTERFACES) });
  for (const vm of VMS) {
    talkers.set(vm, await lab.addGuest(INTERFACES[vm]));
    await network.ensureInterfaces(`vm-${vm}`, [INTERFACES[vm]]);
  }
  for (const talker of talkers.values()) {
    for (const port of PORTS) {
      await talker.listen(port);
      await talker.listen(port, 'udp');
    }
  }
});
afterAll(() => lab?.close());

it(`packets are treated as the trace predicts, whatever the rules (seed ${SEED})`, async () => {
  const traffic = fc.array(packet, { minLength: PACKETS, maxLength: PACKETS });
  const property = fc.asyncProperty(rules, traffic, async (wanted, packets) => {
    await network.applyFirewall({ rules: wanted, interfaces: Object.values(INTERFACES) });
    const surprises = await Promise.all(
      // The packets of one sender are sent one after the other, as its program does.
      [...talkers].map(async ([name, talker]) => {
        const found: unknown[] = [];
        for (const each of packets.filter(({ from }) => from === name)) {
          const surprise = await compare(talker, each, wanted);
          if (surprise) found.push(surprise);
        }
        return found;
      }),
    );
    expect(surprises.flat()).toEqual([]);
  });
  // Shrinking would take longer than reading the failure.
  await fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: true });
  // Otherwise the test would have shown little.
  expect(Math.min(fates.passed, fates.stopped)).toBeGreaterThan((RUNS * PACKETS) / 8);
});

/** Returns undefined if the packet was treated as the trace says. */
async function compare(talker: Guest, each: RandomPacket, wanted: readonly FirewallRule[]) {
  const { protocol, destinationPort, isFromHighPort } = each;
  sent += 1;
  const sourcePort = (isFromHighPort ? 40_000 : 10_000) + sent;
  const question = { ...endsOf(each), protocol, destinationPort, sourcePort };
  const trace = tracePacket(question, wanted.map(toResolved));
  if (!trace) throw new Error('BUG: a packet whose receiver sees the host');
  const isAllowed = trace.allowed;
  fates[isAllowed ? 'passed' : 'stopped'] += 1;
  const isAsTold = await fares(talker, { ...question, address: dialled(each), isAllowed });
  return isAsTold ? undefined : { ...question, isAllowed };
}

type Expected = Question & { address: string; isAllowed: boolean };

async function fares(talker: Guest, expected: Expected): Promise<boolean> {
  const { address, protocol, destinationPort, sourcePort, isAllowed } = expected;
  if (protocol === 'icmp') {
    // A packet that should pass gets more time than one that should not.
    return (await talker.pings(address, '-W', isAllowed ? '8' : '1')) === isAllowed;
  }
  if (!isAllowed) return await talker.misses(address, destinationPort, { protocol, sourcePort });
  const reply = await talker.reaches(address, destinationPort, { protocol, sourcePort });
  return /^[0-9.]+$/.test(reply);
}

function endsOf({ from, to }: RandomPacket): { from: End; to: End } {
  const outside: End = { kind: 'outside', address: OUTSIDE };
  const start = from === 'outside' ? outside : endOf(from, 'vm');
  if (typeof to === 'object') return { from: start, to: endOf(to.vm, to.as) };
  if (to === 'outside' || start.kind === 'outside') return { from: start, to: outside };
  const address = dialled({ from, to });
  return {
    from: start,
    to: { ...start, address, publicAddress: null, as: 'private', isGateway: true },
  };
}

/** The address to which the sender connects. */
function dialled({ from, to }: Pick<RandomPacket, 'from' | 'to'>): string {
  if (from === 'outside' || to === 'outside') {
    if (typeof to !== 'object') return OUTSIDE;
    return to.as === 'private'
      ? privateOf(to.vm)
      : INTERFACES[to.vm].publicIpv4 || privateOf(to.vm);
  }
  if (to === 'gateway') return INTERFACES[from].gatewayIpv4;
  const { networkId, publicIpv4 } = INTERFACES[to.vm];
  const isByPublic =
    to.as === 'public' || (to.as === 'vm' && networkId !== INTERFACES[from].networkId);
  return isByPublic && publicIpv4 !== '' ? publicIpv4 : privateOf(to.vm);
}

function toResolved(rule: FirewallRule): ResolvedRule {
  return {
    ...rule,
    direction: rule.direction === 'DIRECTION_INGRESS' ? 'ingress' : 'egress',
    action: rule.action === 'ACTION_ALLOW' ? 'allow' : 'deny',
  };
}

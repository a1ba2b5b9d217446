import type { End } from '@gantry/model/firewall/plan-path';
import fc from 'fast-check';
import type { FirewallRule } from '../../spec.ts';
import { makeInterface, makeRule } from '../../testing/make-spec.ts';

/** Random rules and packets from so few values that they often match. */

const NETWORKS = ['network-1', 'network-2'] as const;
const PROTOCOLS = ['tcp', 'udp', 'icmp'] as const;

/** Three guests in one network, and one in another; `job` has no public address. */
export const INTERFACES = {
  web: makeInterface('web', {
    ...{ mac: '02:00:00:00:00:05', privateIpv4: '10.0.0.5/24', publicIpv4: '198.51.100.5' },
  }),
  app: makeInterface('app', {
    ...{ mac: '02:00:00:00:00:06', privateIpv4: '10.0.0.6/24', publicIpv4: '198.51.100.6' },
  }),
  job: makeInterface('job', { mac: '02:00:00:00:00:46', privateIpv4: '10.0.0.70/24' }),
  far: makeInterface('far', {
    ...{ networkId: 'network-2', gatewayIpv4: '10.0.1.1', mac: '02:00:00:00:01:09' },
    ...{ privateIpv4: '10.0.1.9/24', publicIpv4: '198.51.100.9' },
  }),
};
export type Vm = keyof typeof INTERFACES;
export const VMS = Object.keys(INTERFACES) as Vm[];
export const PORTS = [22, 80, 3000];
export const OUTSIDE = '192.0.2.2';

const cidrs: fc.Arbitrary<string[]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<string[]>(['0.0.0.0/0']) },
  {
    weight: 4,
    arbitrary: fc.uniqueArray(
      fc.constantFrom(
        ...['10.0.0.5/32', '10.0.0.6', '10.0.0.0/24', '10.0.0.64/26', '10.0.1.0/24', '0.0.0.0/1'],
        ...['192.0.2.0/30', '192.0.2.2/32', '128.0.0.0/1', '198.51.100.4/30', '198.51.100.9/32'],
      ),
      { minLength: 1, maxLength: 3 },
    ),
  },
  // Everything that such a rule names is gone.
  { weight: 1, arbitrary: fc.constant<string[]>([]) },
);
const ports = (...ranges: string[]) =>
  fc.oneof(fc.constant<string[]>([]), fc.subarray(ranges, { minLength: 1, maxLength: 2 }));

const rule: fc.Arbitrary<Partial<FirewallRule>> = fc.record({
  networkId: fc.constantFrom('network-1', ...NETWORKS),
  direction: fc.constantFrom('DIRECTION_INGRESS', 'DIRECTION_EGRESS'),
  action: fc.constantFrom('ACTION_ALLOW', 'ACTION_DENY'),
  protocols: fc.subarray([...PROTOCOLS], { minLength: 1 }),
  sources: cidrs,
  destinations: cidrs,
  sourcePorts: ports('*', '1-29999', '30000-65535'),
  destinationPorts: ports('22', '80', '23-2999', '1-2999', '3000-8080', '*'),
});

/** Rules that allow everything somewhere: without them few packets would match a rule. */
const openings: fc.Arbitrary<Partial<FirewallRule>[]> = fc.subarray(
  NETWORKS.flatMap((networkId) =>
    (['DIRECTION_INGRESS', 'DIRECTION_EGRESS'] as const).map((direction) => ({
      ...{ networkId, direction, protocols: [...PROTOCOLS], destinationPorts: [] },
    })),
  ),
);

export const rules = fc
  .tuple(openings, fc.array(rule, { minLength: 1, maxLength: 6 }))
  .map(([wide, narrow]) => [...wide, ...narrow].map((each, at) => makeRule(`rule-${at}`, each)));

const destination = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      vm: fc.constantFrom(...VMS),
      as: fc.constantFrom('vm' as const, 'private' as const, 'public' as const),
    }),
  },
  { weight: 2, arbitrary: fc.constant('outside' as const) },
  { weight: 1, arbitrary: fc.constant('gateway' as const) },
);

export const packet = fc
  .record({
    from: fc.constantFrom('outside' as const, ...VMS),
    to: destination,
    protocol: fc.constantFrom('tcp', ...PROTOCOLS),
    destinationPort: fc.constantFrom(...PORTS),
    isFromHighPort: fc.boolean(),
  })
  .filter(({ from, to, protocol }) => {
    // Nothing listens behind the gateway's address.
    if (typeof to !== 'object')
      return from !== 'outside' && (to === 'outside' || protocol === 'icmp');
    if (to.as === 'public' && INTERFACES[to.vm].publicIpv4 === '') return false;
    return to.vm !== from && (from === 'outside' || !isHidden(from, to));
  });
export type RandomPacket = typeof packet extends fc.Arbitrary<infer Value> ? Value : never;

/** Without a public address, others see the sender's host, which the trace does not cover. */
function isHidden(from: Vm, to: { vm: Vm; as: string }): boolean {
  if (INTERFACES[from].publicIpv4 !== '' || to.as === 'private') return false;
  return to.as === 'public' || INTERFACES[to.vm].networkId !== INTERFACES[from].networkId;
}

export function endOf(vm: Vm, as: 'vm' | 'private' | 'public'): End {
  const { networkId, publicIpv4 } = INTERFACES[vm];
  const publicAddress = publicIpv4 || null;
  return {
    ...{ kind: 'inside', networkId, address: privateOf(vm), publicAddress },
    ...{ isGateway: false, as },
  };
}

export const privateOf = (vm: Vm): string => INTERFACES[vm].privateIpv4.split('/')[0] ?? '';

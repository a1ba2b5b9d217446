import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeInterface, makeRule } from '../testing/make-spec.ts';
import type { Guest } from './testing/guest.ts';
import { type Lab, openLab } from './testing/lab.ts';

/** Two networks with the same addresses, like those of two projects with the default network. */
const interfacesOf = (networkId: string) => ({
  web: makeInterface(`${networkId}-web`, {
    networkId,
    privateIpv4: '10.0.0.5/24',
    mac: '02:00:00:00:00:05',
  }),
  app: makeInterface(`${networkId}-app`, {
    networkId,
    privateIpv4: '10.0.0.6/24',
    mac: '02:00:00:00:00:06',
  }),
});
const [red, blue] = [interfacesOf('red'), interfacesOf('blue')];
const interfaces = [red.web, red.app, blue.web, blue.app];
const everything = { protocols: ['tcp', 'udp', 'icmp'], destinationPorts: [] };
const outgoing = (networkId: string) =>
  makeRule(`${networkId}-out`, { ...everything, networkId, direction: 'DIRECTION_EGRESS' });
const incoming = (networkId: string) => makeRule(`${networkId}-in`, { ...everything, networkId });

describe('two tenants with the same addresses on one host', () => {
  let lab: Lab;
  let network: ReturnType<Lab['network']>;
  const guests = new Map<string, Guest>();
  const at = (id: string) => {
    const guest = guests.get(id);
    if (!guest) throw new Error(`no guest ${id}`);
    return guest;
  };

  beforeAll(async () => {
    lab = await openLab();
    network = lab.network();
    for (const iface of interfaces) guests.set(iface.id, await lab.addGuest(iface));
    await network.applyFirewall({ rules: [], interfaces });
    await Promise.all(
      interfaces.map((iface) => network.ensureInterfaces(`vm-${iface.id}`, [iface])),
    );
    await at('red-web').listen(22);
    await at('blue-web').listen(80);
    await lab.outside.listen(443);
  });
  afterAll(() => lab?.close());

  it('reach their own guests and never the other tenant’s', async () => {
    const rules = [outgoing('red'), incoming('red'), outgoing('blue'), incoming('blue')];
    await network.applyFirewall({ rules, interfaces });
    expect(await at('red-app').reaches('10.0.0.5', 22)).toBe('10.0.0.6');
    expect(await at('blue-app').reaches('10.0.0.5', 80)).toBe('10.0.0.6');
    // Their own guest is reachable but does not listen there; the other tenant's guest does.
    expect(await at('red-app').reaches('10.0.0.5', 80)).toContain('ECONNREFUSED');
    expect(await at('blue-app').reaches('10.0.0.5', 22)).toContain('ECONNREFUSED');
  });

  it('do not use each other’s connections', async () => {
    const toWeb = { ...incoming('blue'), destinations: ['10.0.0.5'] };
    const rules = [outgoing('red'), incoming('red'), outgoing('blue'), toWeb];
    await network.applyFirewall({ rules, interfaces });
    await at('red-web').listen(53, 'udp');
    await at('blue-app').listen(5000, 'udp');
    const asked = { protocol: 'udp', sourcePort: 5000 } as const;
    expect(await at('red-app').reaches('10.0.0.5', 53, asked)).toBe('10.0.0.6');
    // Looks like the reply to a request of the other tenant.
    const reply = { protocol: 'udp', sourcePort: 53 } as const;
    expect(await at('blue-web').misses('10.0.0.6', 5000, reply)).toBe(true);
  });

  it('reach the outside at the same time from the same address and port, each with its own replies', async () => {
    await network.applyFirewall({ rules: [outgoing('red'), outgoing('blue')], interfaces });
    const same = { sourcePort: 6000 };
    expect(await at('red-app').reaches('192.0.2.2', 443, same)).toBe('192.0.2.1');
    expect(await at('blue-app').reaches('192.0.2.2', 443, same)).toBe('192.0.2.1');
    expect(await at('red-app').reachesAgain()).toBe('192.0.2.1');
    expect(await at('blue-app').reachesAgain()).toBe('192.0.2.1');
  });
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeInterface, makeRule } from '../testing/make-spec.ts';
import { bridgeName, tapName } from './kernel/names.ts';
import { type Lab, openLab } from './testing/lab.ts';
import { snapshot } from './testing/snapshot.ts';

const web = makeInterface('web', { mac: '02:00:00:00:00:05', privateIpv4: '10.0.0.5/24' });
const app = makeInterface('app', { mac: '02:00:00:00:00:06', privateIpv4: '10.0.0.6/24' });
const other = makeInterface('other', { networkId: 'network-2', mac: '02:00:00:00:00:07' });
const firewall = { rules: [makeRule('ssh')], interfaces: [web, app, other] };

let lab: Lab;
let network: ReturnType<Lab['network']>;
beforeEach(async () => {
  lab = await openLab();
  network = lab.network({ reachableFromHost: true });
});
afterEach(() => lab?.close());

describe('interfaces', () => {
  it('are persistent multi-queue taps, isolated and up, in a bridge of their network', async () => {
    await network.applyFirewall(firewall);
    await network.ensureInterfaces('vm-1', [web, other]);
    const [tap] = JSON.parse(await lab.ip(`-json -details link show ${tapName('web')}`));
    expect(tap).toMatchObject({
      ...{ mtu: 1450, master: bridgeName('network-1'), ifalias: 'gantry:vm-1:web:10.0.0.5' },
      flags: expect.arrayContaining(['UP']),
      linkinfo: {
        info_data: { type: 'tap', multi_queue: true, persist: true },
        info_slave_data: { isolated: true, learning: false, flood: false },
      },
    });
    const [bridge] = JSON.parse(await lab.ip(`-json -details link show ${tap.master}`));
    expect(bridge).toMatchObject({
      ...{ mtu: 1450, ifalias: 'gantry:network:network-1', flags: expect.arrayContaining(['UP']) },
      linkinfo: { info_data: { stp_state: 0 } },
    });
  });

  it('are unchanged when they are ensured again; removing them, also again, leaves nothing', async () => {
    const before = await snapshot(lab);
    await network.applyFirewall(firewall);
    await network.ensureInterfaces('vm-1', [web, other]);
    const made = await snapshot(lab);
    expect(made).not.toEqual(before);
    await network.ensureInterfaces('vm-1', [web, other]);
    expect(await snapshot(lab)).toEqual(made);
    await lab.network({ reachableFromHost: true }).ensureInterfaces('vm-1', [web, other]);
    expect(await snapshot(lab)).toEqual(made);
    await network.removeInterfaces('vm-1');
    expect(await snapshot(lab)).toEqual(before);
    await network.removeInterfaces('vm-1');
    expect(await snapshot(lab)).toEqual(before);
  });

  it('of one VM are removed without those of another VM in the same network', async () => {
    await network.applyFirewall(firewall);
    await network.ensureInterfaces('vm-1', [web]);
    const alone = await snapshot(lab);
    await network.ensureInterfaces('vm-2', [app, other]);
    await network.removeInterfaces('vm-2');
    expect(await snapshot(lab)).toEqual(alone);
  });

  it('that a VM no longer has are removed when its others are ensured', async () => {
    await network.applyFirewall(firewall);
    await network.ensureInterfaces('vm-1', [web]);
    const alone = await snapshot(lab);
    await network.ensureInterfaces('vm-1', [web, app]);
    await network.ensureInterfaces('vm-1', [web]);
    expect(await snapshot(lab)).toEqual(alone);
  });

  it('do not start before rules cover them as they are', async () => {
    const before = await snapshot(lab);
    const uncovered = { code: 'not_filtered' };
    await expect(network.ensureInterfaces('vm-1', [web])).rejects.toMatchObject(uncovered);
    await network.applyFirewall({ ...firewall, interfaces: [app] });
    await expect(network.ensureInterfaces('vm-1', [web])).rejects.toMatchObject(uncovered);
    const moved = { ...app, privateIpv4: '10.0.0.99/24' };
    await expect(network.ensureInterfaces('vm-1', [moved])).rejects.toMatchObject(uncovered);
    expect(await snapshot(lab)).toEqual(before);
  });

  it('of other programs are neither used nor removed', async () => {
    await network.applyFirewall(firewall);
    await lab.ip(`tuntap add dev ${tapName('web')} mode tap`);
    await lab.ip(`link set ${tapName('web')} alias somebody`);
    await lab.ip('tuntap add dev gtapother mode tap');
    await lab.ip('link add name gbrother type bridge');
    await lab.ip('link add name virbr0 type bridge');
    await expect(network.ensureInterfaces('vm-1', [web])).rejects.toMatchObject({
      code: 'interface_taken',
    });
    await network.removeInterfaces('vm-1');
    const names = JSON.parse(await lab.ip('-json link show')).map(
      (link: { ifname: string }) => link.ifname,
    );
    expect(names).toEqual(
      expect.arrayContaining([tapName('web'), 'gtapother', 'gbrother', 'virbr0']),
    );
    expect(names).not.toContain(bridgeName('network-1'));
  });
});

describe('rules', () => {
  it('are recognised as in force by every agent, until the spec changes', async () => {
    expect(await network.isInForce(firewall)).toBe(false);
    await network.applyFirewall(firewall);
    await network.applyFirewall(firewall);
    expect(await network.isInForce(firewall)).toBe(true);
    const restarted = lab.network();
    expect(await restarted.isInForce(firewall)).toBe(true);
    expect(await restarted.isInForce({ ...firewall, rules: [] })).toBe(false);
    expect(await restarted.isInForce({ ...firewall, interfaces: [web] })).toBe(false);
  });

  it.each([
    ['a rule removed', ['flush', 'chain', 'inet', 'gantry', 'input']],
    ['a rule added', ['insert', 'rule', 'inet', 'gantry', 'forward', 'accept']],
    ['an element added', ['add', 'element', 'inet', 'gantry', 'bridges', '{ eth0 }']],
    ['an element removed', ['flush', 'set', 'bridge', 'gantry', 'stations']],
    ['a table gone', ['delete', 'table', 'bridge', 'gantry']],
    ['all of it gone', ['flush', 'ruleset']],
  ])(
    'are not in force with %s by hand, and are again after they are applied',
    async (_, change) => {
      await network.applyFirewall(firewall);
      await lab.nft(...change);
      expect(await network.isInForce(firewall)).toBe(false);
      await network.applyFirewall(firewall);
      expect(await network.isInForce(firewall)).toBe(true);
    },
  );

  it('leave the tables of other programs unchanged', async () => {
    await lab.nft('add', 'table', 'inet', 'theirs');
    await lab.nft('add', 'chain', 'inet', 'theirs', 'kept');
    await lab.nft('add', 'rule', 'inet', 'theirs', 'kept', 'tcp', 'dport', '8080', 'drop');
    const before = await lab.nft('list', 'table', 'inet', 'theirs');
    await network.applyFirewall(firewall);
    expect(await lab.nft('list', 'table', 'inet', 'theirs')).toBe(before);
  });

  it('that are invalid change nothing', async () => {
    await network.applyFirewall(firewall);
    const bad = { ...firewall, rules: [makeRule('bad', { sources: ['10.0.0.1/24'] })] };
    await expect(network.applyFirewall(bad)).rejects.toMatchObject({
      code: 'invalid_firewall_rule',
    });
    expect(await network.isInForce(firewall)).toBe(true);
  });
});

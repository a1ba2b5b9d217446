import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HostNetwork } from '../../host-driver.ts';
import { makeInterface, makeRule } from '../../testing/make-spec.ts';
import { bridgeName, networkNumber, tapName, tunnelName } from '../kernel/names.ts';
import { dyingAfter } from '../testing/dying-after.ts';
import { type Lab, openLab } from '../testing/lab.ts';
import { snapshot } from '../testing/snapshot.ts';

const web = makeInterface('web', { mac: '02:00:00:00:00:05', privateIpv4: '10.0.0.5/24' });
const kept = makeInterface('kept', { networkId: 'network-2', mac: '02:00:00:00:00:06' });
const rules = [makeRule('ssh')];
const both = { rules, interfaces: [web, kept] };
const one = { rules, interfaces: [kept] };

let lab: Lab;
let network: HostNetwork;
let alone: unknown;
beforeEach(async () => {
  lab = await openLab();
  network = lab.network({ reachableFromHost: true });
  await network.applyFirewall(one);
  await network.ensureInterfaces('vm-kept', [kept]);
  alone = await snapshot(lab);
});
afterEach(() => lab?.close());

const restarted = () => lab.network({ reachableFromHost: true });

describe('what an earlier agent process left', () => {
  it('of an interface interrupted at any step is removed when rules without it are applied', async () => {
    for (let steps = 0; ; steps += 1) {
      await network.applyFirewall(both);
      const { run, isDead } = dyingAfter(steps);
      await lab
        .network({ run, reachableFromHost: true })
        .ensureInterfaces('vm-web', [web])
        .catch(() => undefined);
      await restarted().applyFirewall(one);
      expect(await snapshot(lab), `after ${steps} steps`).toEqual(alone);
      if (!isDead()) break;
    }
  });

  it('is removed although the removal is interrupted at any step', async () => {
    for (let steps = 0; ; steps += 1) {
      await network.applyFirewall(both);
      await network.ensureInterfaces('vm-web', [web]);
      const { run, isDead } = dyingAfter(steps);
      await lab
        .network({ run, reachableFromHost: true })
        .applyFirewall(one)
        .catch(() => undefined);
      if (isDead()) expect(await restarted().isInForce(one)).toBe(false);
      await restarted().applyFirewall(one);
      expect(await snapshot(lab), `after ${steps} steps`).toEqual(alone);
      expect(await restarted().isInForce(one)).toBe(true);
      if (!isDead()) break;
    }
  });

  it('in rules and routes is removed if its interfaces were removed outside the agent', async () => {
    await network.applyFirewall(both);
    await network.ensureInterfaces('vm-web', [web]);
    await lab.ip(`link delete ${tapName('web')}`);
    await lab.ip(`link delete ${bridgeName('network-1')}`);
    expect(await lab.ip('rule show')).toContain(`lookup ${networkNumber('network-1')}`);
    await restarted().applyFirewall(one);
    expect(await snapshot(lab)).toEqual(alone);
  });

  it('includes neither what the spec names and is missing, nor what exists as the spec says', async () => {
    await network.applyFirewall(both);
    await network.ensureInterfaces('vm-web', [web]);
    const whole = await snapshot(lab);
    await restarted().applyFirewall(both);
    expect(await snapshot(lab)).toEqual(whole);
    await network.removeInterfaces('vm-web');
    expect(await restarted().isInForce(both)).toBe(true);
  });

  it('stays while a process holds it open, and is removed after that', async () => {
    await network.applyFirewall(both);
    await lab.addGuest(web);
    await network.ensureInterfaces('vm-web', [web]);
    await restarted().applyFirewall(one);
    expect(await lab.ip('link show')).toContain(tapName('web'));
    expect(await restarted().isInForce(one)).toBe(true);
    await lab.ip(`link set ${tapName('web')} down`);
    expect(await restarted().isInForce(one)).toBe(false);
    await restarted().applyFirewall(one);
    expect(await snapshot(lab)).toEqual(alone);
  });
});

it('includes nothing of other programs', async () => {
  const number = networkNumber('network-1');
  for (const line of [
    // Names that are similar to ours, and our names with an owner or of another kind.
    'tuntap add dev gtapother mode tap',
    'link add name gbrother type bridge',
    `tuntap add dev ${tapName('theirs')} mode tap`,
    `link set ${tapName('theirs')} alias somebody`,
    `link add name ${bridgeName('theirs')} type bridge`,
    `link set ${bridgeName('theirs')} alias somebody:network:theirs`,
    `link add name ${bridgeName('veth')} type veth peer name ${tapName('veth')}`,
    `link add name ${tunnelName('theirs')} type bridge`,
    'tuntap add dev tap0 mode tap',
    'link add name virbr0 type bridge',
    // Our numbers with another use, and other numbers with our use.
    `rule add pref 999 fwmark ${number} lookup ${number}`,
    `rule add pref 1000 fwmark 7 lookup ${number}`,
    'rule add pref 1000 fwmark 100 lookup 100',
    `route add unreachable 10.99.0.0/16 table ${number}`,
    'route add unreachable 10.98.0.0/16 table 100',
    'route add unreachable 10.97.0.0/16',
  ]) {
    await lab.ip(line);
  }
  await lab.nft('add', 'table', 'inet', 'gantry_not');
  const before = await snapshot(lab);
  await restarted().applyFirewall(one);
  expect(await snapshot(lab)).toEqual(before);
  expect(await lab.nft('list', 'tables')).toContain('gantry_not');
  expect(await restarted().isInForce(one)).toBe(true);
});

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeInterface, makeRule } from '../../testing/make-spec.ts';
import type { KernelNetwork } from '../host-network.ts';
import { tapName } from '../kernel/names.ts';
import { bringUp } from '../testing/bring-up.ts';
import { dyingAfter } from '../testing/dying-after.ts';
import { type Lab, openLab } from '../testing/lab.ts';
import { snapshot } from '../testing/snapshot.ts';
import { transfer } from '../testing/transfer.ts';
import { lanesOf } from './shapers.ts';

const MBPS = 4;
const BYTES_PER_MS = (MBPS * 1_000_000) / 8 / 1_000;
const slow = makeInterface('slow', {
  ...{ mac: '02:00:00:00:00:05', privateIpv4: '10.0.0.5/24', bandwidthMbps: MBPS },
});
const free = makeInterface('free', { mac: '02:00:00:00:00:06', privateIpv4: '10.0.0.6/24' });
const firewall = {
  rules: [
    makeRule('arriving', { destinationPorts: ['5000'] }),
    makeRule('leaving', { direction: 'DIRECTION_EGRESS', destinationPorts: [] }),
  ],
  interfaces: [slow, free],
};
const TAP = tapName(slow.id);
const SHAPERS = lanesOf(TAP).map(({ shaper }) => shaper);
const [OUTGOING = '', INCOMING = ''] = SHAPERS;

let lab: Lab;
let network: KernelNetwork;
beforeEach(async () => {
  lab = await openLab();
  network = lab.network({ enforcesBandwidth: true });
});
afterEach(() => lab?.close());

const linkNames = async (): Promise<string[]> =>
  JSON.parse(await lab.ip('-json link show')).map(({ ifname }: { ifname: string }) => ifname);

const statisticsOf = async (link: string) =>
  JSON.parse(await lab.host.run('tc', '-s', '-json', 'qdisc', 'show', 'dev', link))[0];

const tc = (line: string) => lab.host.run('tc', ...line.split(' '));

describe('on a host that enforces bandwidth', () => {
  /** More than the bucket and the queue hold, so most of it has to wait for new tokens. */
  const bytes = 1_500_000;
  const instant = 2 ** 18;
  const leastMs = (bytes - instant) / BYTES_PER_MS;

  it.each([
    ['sends', OUTGOING, { from: 'slow', to: 'free', address: '10.0.0.6' }],
    ['receives', INCOMING, { from: 'free', to: 'slow', address: '10.0.0.5' }],
  ] as const)('a guest %s no faster than its type allows', async (_, shaper, way) => {
    const guests = { slow: await lab.addGuest(slow), free: await lab.addGuest(free) };
    await bringUp(network, firewall);
    const [from, to] = [guests[way.from], guests[way.to]];
    const ms = await transfer({ from, to, address: way.address, port: 5000, bytes });
    expect(ms).toBeGreaterThan(leastMs);
    const { options, overlimits } = await statisticsOf(shaper);
    expect(options.rate).toBe(BYTES_PER_MS * 1_000);
    expect(overlimits).toBeGreaterThan(0);
  });

  it('rules still apply to what a limited guest sends', async () => {
    const guest = await lab.addGuest(slow);
    const other = await lab.addGuest(free);
    await bringUp(network, firewall);
    await other.listen(5000);
    expect(await guest.reaches('10.0.0.6', 5000)).toBe('10.0.0.5');
    await guest.run('ip', 'address', 'add', '10.0.0.9/24', 'dev', 'eth0');
    expect(await guest.misses('10.0.0.6', 5000, { sourceAddress: '10.0.0.9' })).toBe(true);
  });

  it('a guest without a bandwidth is not limited', async () => {
    await bringUp(network, { ...firewall, interfaces: [free] });
    expect((await linkNames()).filter((name) => /^(gin|gout)/.test(name))).toEqual([]);
    expect(await network.isInForce({ ...firewall, interfaces: [free] })).toBe(true);
  });
});

describe('limits', () => {
  it('outlive the agent, and removing the interface removes them', async () => {
    const before = await snapshot(lab);
    await bringUp(network, firewall);
    expect(await linkNames()).toEqual(expect.arrayContaining(SHAPERS));
    const made = await snapshot(lab);
    const restarted = lab.network({ enforcesBandwidth: true });
    expect(await restarted.isInForce(firewall)).toBe(true);
    await bringUp(restarted, firewall);
    expect(await snapshot(lab)).toEqual(made);
    for (const { id } of firewall.interfaces) await restarted.removeInterfaces(`vm-${id}`);
    expect(await snapshot(lab)).toEqual(before);
  });

  it('stay when libvirt replaces the queue of a tap, as it does at each start', async () => {
    await bringUp(network, firewall);
    await tc(`qdisc add dev ${TAP} root handle 0: noqueue`);
    expect(await network.isInForce(firewall)).toBe(true);
  });

  it.each([
    ['the filters', `qdisc del dev ${TAP} clsact`],
    ['one filter', `filter del dev ${TAP} egress`],
    ['the limit of what a guest sends', `qdisc del dev ${OUTGOING} root`],
    ['the limit of what a guest receives', `qdisc del dev ${INCOMING} root`],
    ['the rate', `qdisc replace dev ${OUTGOING} root handle 1: tbf rate 9gbit burst 1mb limit 9mb`],
  ])('are restored after %s changed outside the agent', async (_, change) => {
    await bringUp(network, firewall);
    const made = await tc('qdisc show');
    await tc(change);
    expect(await network.isInForce(firewall)).toBe(false);
    await network.applyFirewall(firewall);
    expect(await network.isInForce(firewall)).toBe(true);
    expect(await tc('qdisc show')).toBe(made);
  });

  it('are restored after their links were removed outside the agent', async () => {
    await bringUp(network, firewall);
    for (const shaper of SHAPERS) {
      await lab.ip(`link delete dev ${shaper}`);
      expect(await network.isInForce(firewall)).toBe(false);
      await network.applyFirewall(firewall);
      expect(await network.isInForce(firewall)).toBe(true);
    }
    await lab.ip(`link set dev ${OUTGOING} down`);
    expect(await network.isInForce(firewall)).toBe(false);
    await network.applyFirewall(firewall);
    expect(await network.isInForce(firewall)).toBe(true);
  });

  it('follow the bandwidth of the spec and the setting of the host', async () => {
    await bringUp(network, firewall);
    const faster = { ...firewall, interfaces: [{ ...slow, bandwidthMbps: 25_000 }, free] };
    expect(await network.isInForce(faster)).toBe(false);
    await network.applyFirewall(faster);
    for (const shaper of SHAPERS)
      expect((await statisticsOf(shaper)).options.rate).toBe(25_000_000_000 / 8);
    const unlimited = lab.network({ enforcesBandwidth: false });
    expect(await unlimited.isInForce(faster)).toBe(false);
    await unlimited.applyFirewall(faster);
    expect(await unlimited.isInForce(faster)).toBe(true);
    expect(await linkNames()).not.toEqual(expect.arrayContaining([OUTGOING]));
    expect(await tc(`qdisc show dev ${TAP}`)).not.toContain('clsact');
    expect(await network.isInForce(faster)).toBe(false);
    await network.applyFirewall(faster);
    expect(await linkNames()).toEqual(expect.arrayContaining(SHAPERS));
  });

  it('are completed after the agent was killed at any step of their change', async () => {
    const unlimited = lab.network({ enforcesBandwidth: false });
    await bringUp(unlimited, firewall);
    await unlimited.applyFirewall(firewall);
    const without = await snapshot(lab);
    await network.applyFirewall(firewall);
    const made = await snapshot(lab);
    for (const [wanted, isEnforced, reset] of [
      [made, true, unlimited],
      [without, false, network],
    ] as const) {
      for (let steps = 0; ; steps += 1) {
        await reset.applyFirewall(firewall);
        const { run, isDead } = dyingAfter(steps);
        const dying = lab.network({ enforcesBandwidth: isEnforced, run });
        await dying.applyFirewall(firewall).catch(() => undefined);
        const next = lab.network({ enforcesBandwidth: isEnforced });
        if (!(await next.isInForce(firewall))) await next.applyFirewall(firewall);
        expect(await snapshot(lab), `after ${steps} steps`).toEqual(wanted);
        if (!isDead()) break;
      }
    }
  });

  it('do not use links of other programs', async () => {
    await lab.ip(`link add name ${OUTGOING} type ifb`);
    await lab.ip(`link set dev ${OUTGOING} alias theirs`);
    await expect(bringUp(network, firewall)).rejects.toMatchObject({ code: 'interface_taken' });
    await network.removeInterfaces(`vm-${slow.id}`);
    expect(await linkNames()).toContain(OUTGOING);
  });
});

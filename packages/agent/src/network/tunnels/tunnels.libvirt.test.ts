import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeInterface, makeNetwork, makeRule } from '../../testing/make-spec.ts';
import { renderFirewall } from '../firewall/render-firewall.ts';
import { networkNumber, tunnelMac, tunnelName } from '../kernel/names.ts';
import { inNamespace, runCommand } from '../kernel/run-command.ts';
import { countedBy } from '../testing/counters.ts';
import { dyingAfter } from '../testing/dying-after.ts';
import { type Lab, openLab } from '../testing/lab.ts';
import { snapshot } from '../testing/snapshot.ts';
import { readTunnels } from './present-tunnels.ts';
import { applyTunnels } from './tunnels-in-kernel.ts';
import { readUnderlay } from './underlay.ts';

const web = makeInterface('web', { mac: '02:00:00:00:00:05', privateIpv4: '10.0.0.5/24' });
const rules = [
  makeRule('out', { direction: 'DIRECTION_EGRESS', protocols: ['udp'], destinationPorts: [] }),
];
const neighbour = (privateIpv4: string, hostIpv4: string) => ({
  ...{ privateIpv4, hostIpv4, mac: '02:00:00:00:00:99' },
});
const firewallWith = (...neighbours: ReturnType<typeof neighbour>[]) => ({
  ...{ rules, interfaces: [web] },
  networks: [makeNetwork('network-1', { vni: 42, neighbours })],
});
const alone = firewallWith();
const [near, far] = ['192.0.2.7', '192.0.2.8'];
const spanning = firewallWith(neighbour('10.0.0.6', near), neighbour('10.0.0.7', far));
const moved = firewallWith(neighbour('10.0.0.6', far), neighbour('10.0.0.9', '192.0.2.9'));
const tunnel = tunnelName('network-1');

let lab: Lab;
let network: ReturnType<Lab['network']>;
beforeEach(async () => {
  lab = await openLab();
  network = lab.network();
});
afterEach(() => lab?.close());

describe('tunnels', () => {
  it('are static links of their network: they learn nothing and flood nothing', async () => {
    await network.applyFirewall(spanning);
    const [link] = JSON.parse(await lab.ip(`-json -details link show ${tunnel}`));
    expect(link).toMatchObject({
      ...{ mtu: 1450, ifalias: 'gantry:tunnel:network-1', address: tunnelMac(42, '192.0.2.1') },
      flags: expect.arrayContaining(['UP']),
      linkinfo: { info_data: { id: 42, local: '192.0.2.1', port: 4789, learning: false } },
    });
    expect(link.linkinfo.info_data).not.toHaveProperty('group');
    const stations = JSON.parse(
      await lab.host.run('bridge', '-json', 'fdb', 'show', 'dev', tunnel),
    );
    expect(stations.map(({ mac, dst }: { mac: string; dst: string }) => [mac, dst]).sort()).toEqual(
      [near, far].map((host) => [tunnelMac(42, host), host]).sort(),
    );
  });

  it('are unchanged when they are applied again, recognised by every agent, and removed completely', async () => {
    await network.applyFirewall(alone);
    await network.ensureInterfaces('vm-1', [web]);
    const before = await snapshot(lab);
    await network.applyFirewall(spanning);
    const made = await snapshot(lab);
    expect(made).not.toEqual(before);
    await network.applyFirewall(spanning);
    expect(await snapshot(lab)).toEqual(made);
    expect(await lab.network().isInForce(spanning)).toBe(true);
    expect(await lab.network().isInForce(moved)).toBe(false);
    await network.applyFirewall(moved);
    expect(await network.isInForce(moved)).toBe(true);
    await network.applyFirewall(spanning);
    expect(await snapshot(lab)).toEqual(made);
    await network.applyFirewall(alone);
    expect(await snapshot(lab)).toEqual(before);
    // A host without a reported address is not reachable, and neither is one that reports the
    // address of this host.
    await network.applyFirewall(
      firewallWith(neighbour('10.0.0.6', ''), neighbour('10.0.0.7', '192.0.2.1')),
    );
    expect(await snapshot(lab)).toEqual(before);
  });

  it('are not in force with any part of them changed by hand, and are again after they are applied', async () => {
    await network.applyFirewall(spanning);
    const made = await snapshot(lab);
    const station = `00:00:00:00:00:00 dev ${tunnel} dst ${near} self`;
    for (const line of [
      `ip route delete 10.0.0.6 dev ${tunnel} table ${networkNumber('network-1')}`,
      `ip route add 10.0.0.66 via ${near} dev ${tunnel} onlink`,
      `ip neigh replace ${near} lladdr 02:00:00:00:00:01 dev ${tunnel}`,
      `ip link set ${tunnel} down`,
      `ip link delete ${tunnel}`,
      `ip link set ${tunnel} mtu 1400`,
      // By this one they would flood.
      `bridge fdb append ${station}`,
    ]) {
      const [program = '', ...args] = line.split(' ');
      await lab.host.run(program, ...args);
      expect(await network.isInForce(spanning), line).toBe(false);
      await network.applyFirewall(spanning);
      expect(await network.isInForce(spanning), line).toBe(true);
      expect(await snapshot(lab), line).toEqual(made);
    }
  });

  it('keep their routes while the last guest leaves and another is about to start', async () => {
    await network.applyFirewall(spanning);
    const made = await snapshot(lab);
    await network.ensureInterfaces('vm-1', [web]);
    await network.removeInterfaces('vm-1');
    expect(await snapshot(lab)).toEqual(made);
    expect(await network.isInForce(spanning)).toBe(true);
  });

  it('of other programs are neither used nor removed', async () => {
    await lab.ip('link add name vxlan9 type vxlan id 9 local 192.0.2.1 dstport 4789 nolearning');
    await lab.ip('link add name gvxother type vxlan id 8 local 192.0.2.1 dstport 8472');
    await network.applyFirewall(spanning);
    await network.applyFirewall(alone);
    const names = JSON.parse(await lab.ip('-json link show type vxlan'))
      .map(({ ifname }: { ifname?: string }) => ifname)
      .filter((name: string | undefined) => name !== undefined);
    expect(names).toEqual(['vxlan9', 'gvxother']);
    await lab.ip(`link set gvxother name ${tunnel} alias somebody`);
    await expect(network.applyFirewall(spanning)).rejects.toMatchObject({
      code: 'interface_taken',
    });
  });

  it('are refused, before anything changes, if the underlay is too narrow', async () => {
    await network.applyFirewall(alone);
    const before = await snapshot(lab);
    await lab.ip('link set uplink mtu 1499');
    await expect(network.applyFirewall(spanning)).rejects.toMatchObject({
      ...{ code: 'underlay_mtu_too_small', message: expect.stringContaining('GANTRY_GUEST_MTU') },
    });
    await lab.ip('link set uplink mtu 1500');
    expect(await snapshot(lab)).toEqual(before);
    expect(await network.isInForce(alone)).toBe(true);
  });
});

it('tunnels that are interrupted at any step are completed by applying again, whether added, changed or removed', async () => {
  const underlay = await readUnderlay(inNamespace(runCommand, lab.host.netns), {
    ...{ address: undefined, uplink: 'uplink' },
  });
  const apply = async (firewall: typeof alone, outside = runCommand) => {
    const run = inNamespace(outside, lab.host.netns);
    const { tunnels } = renderFirewall(firewall, 'uplink', underlay);
    await applyTunnels(run, { present: await readTunnels(run), wanted: { tunnels, mtu: 1450 } });
  };
  const changes = [
    { before: alone, after: spanning },
    { before: spanning, after: moved },
    { before: moved, after: alone },
  ];
  for (const { before, after } of changes) {
    await apply(after);
    const whole = await snapshot(lab);
    for (let steps = 0; ; steps += 1) {
      await apply(before);
      const { run, isDead } = dyingAfter(steps);
      await apply(after, run).catch(() => undefined);
      if (!isDead()) break;
      await apply(after);
      expect(await snapshot(lab), `after ${steps} steps`).toEqual(whole);
    }
  }
});

it('a guest that leaves with its host’s address cannot send VXLAN to other hosts', async () => {
  await network.applyFirewall(spanning);
  const guest = await lab.addGuest(web);
  await network.ensureInterfaces('vm-1', [web]);
  await lab.outside.listen(53, 'udp');
  await lab.outside.listen(4789, 'udp');
  expect(await guest.reaches('192.0.2.2', 53, { protocol: 'udp' })).toBe('192.0.2.1');
  expect(await guest.misses('192.0.2.2', 4789, { protocol: 'udp' })).toBe(true);
  const listed = await lab.nft('-j', 'list', 'table', 'inet', 'gantry');
  expect(countedBy(listed, 'VXLAN from a guest')).toBe(1);
});

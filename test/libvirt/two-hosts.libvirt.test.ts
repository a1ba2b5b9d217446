import { tunnelName } from '@gantry/agent/network/kernel/names';
import { renderMetaData } from '@gantry/agent/seed/nocloud';
import { makeRule } from '@gantry/agent/testing/make-spec';
import {
  type HostWithVm,
  NETWORK,
  startTwoHosts,
  type TwoHosts,
} from '@gantry/testkit/real-host/two-hosts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** Echoes its input. */
const KEPT = 80;
/** Accepts one connection and reads it to its end. */
const CUT = 81;
const SENT_BYTES = 262_144;

/** udhcpc calls this script, which prints the offered values. */
const ASK_FOR_LEASE = [
  "echo '#!/bin/sh' >/run/lease",
  "echo 'echo $1 $ip/$mask $router >>/run/leased' >>/run/lease",
  'chmod +x /run/lease',
  'udhcpc -q -n -i eth0 -s /run/lease >/run/udhcpc 2>&1',
  'grep bound /run/leased',
].join(' && ');
/**
 * Prints a counter to a file first and then to the connection, so that later output has a greater
 * number.
 */
const COUNT = 'n=0; while n=$((n + 1)); do echo $n >>/run/said; echo $n; usleep 100000; done';

const untilListening = (port: number) => {
  const address = `:${port.toString(16).padStart(4, '0').toUpperCase()}`;
  return `until grep -q '${address} .* 0A ' /proc/net/tcp*; do usleep 100000; done`;
};

const outgoing = makeRule('outgoing', {
  ...{ networkId: NETWORK, direction: 'DIRECTION_EGRESS', destinationPorts: [] },
});
const allow = (port: number) =>
  makeRule(`allow-${port}`, { networkId: NETWORK, destinationPorts: [`${port}`] });
const open = [outgoing, allow(KEPT), allow(CUT)];
const closed = [outgoing, allow(KEPT)];

describe('two VMs of one network, on two hosts', () => {
  let both: TwoHosts;
  /** Each host together with the other one. */
  let ways: { from: HostWithVm; to: HostWithVm }[];

  beforeAll(async () => {
    both = await startTwoHosts(open);
    const [one, other] = both.places;
    ways = [
      { from: one, to: other },
      { from: other, to: one },
    ];
    for (const { guest } of both.places) {
      await guest.begin(`nc -ll -p ${KEPT} -e cat`);
      // Without more input it would end the connection.
      await guest.begin(`tail -f /dev/null | nc -l -p ${CUT} >/run/heard`);
      for (const port of [KEPT, CUT]) await guest.run(untilListening(port));
    }
  });
  afterAll(() => both?.stop());

  const atBoth = <T>(ask: (place: HostWithVm) => Promise<T>) => Promise.all(both.places.map(ask));

  it('have the addresses of their specs, from their seeds and by DHCP', async () => {
    const addresses = await atBoth(({ guest }) => guest.run('ip -4 -o addr show dev eth0'));
    for (const [index, { vm }] of both.places.entries()) {
      expect(addresses[index]).toContain(` inet ${vm.interfaces[0]?.privateIpv4} `);
    }
    expect(await atBoth(({ guest }) => guest.run(ASK_FOR_LEASE))).toEqual([
      'bound 10.0.0.5/24 10.0.0.1\n',
      'bound 10.0.0.6/24 10.0.0.1\n',
    ]);
  });

  it('each get their own metadata at 169.254.169.254, and not the other’s', async () => {
    const read = (name: string) =>
      atBoth(({ guest }) => guest.run(`wget -q -O - http://169.254.169.254/${name}`));
    expect(await read('meta-data')).toEqual(both.places.map(({ vm }) => renderMetaData(vm)));
    expect(await read('gantry-startup')).toEqual(both.places.map(({ vm }) => vm.startupScript));
  });

  const echo = (bytes: number, address: string) =>
    `head -c ${bytes} /dev/urandom | tee /run/sent | nc -w 30 ${address} ${KEPT} | sha256sum; sha256sum </run/sent`;
  const expectEchoes = async (bytes: number) => {
    const sums = await Promise.all(
      ways.map(({ from, to }) => from.guest.run(echo(bytes, to.privateIpv4))),
    );
    for (const sum of sums) expect(sum).toMatch(/^([0-9a-f]{64}) {2}-\n\1 {2}-\n$/);
  };

  it('reach each other by their private addresses, through the tunnel', async () => {
    await expectEchoes(SENT_BYTES);
    const link = ['-statistics', '-json', 'link', 'show', 'dev', tunnelName(NETWORK)];
    for (const listed of await atBoth(({ host }) => host.runIn('ip', ...link))) {
      const [{ stats64 }] = JSON.parse(listed);
      for (const way of ['rx', 'tx']) expect(stats64[way].bytes).toBeGreaterThan(2 * SENT_BYTES);
    }
  });

  it('receive nothing on an open connection while its rule is missing, and everything when it is back', async () => {
    for (const { from, to } of ways) {
      await from.guest.begin(`(${COUNT}) | nc ${to.privateIpv4} ${CUT}`);
    }
    const last = async (place: HostWithVm, file: 'said' | 'heard') =>
      Number(await place.guest.run(`tail -n 1 /run/${file}`));
    const expectHeard = (count: number) =>
      Promise.all(
        ways.map(({ to }) => expect.poll(() => last(to, 'heard')).toBeGreaterThan(count)),
      );
    await expectHeard(5);

    await both.apply(closed);
    await Promise.all(
      ways.map(async ({ from, to }) => {
        const saidBefore = await last(from, 'said');
        await expect.poll(() => last(from, 'said')).toBeGreaterThan(saidBefore + 10);
        expect(await last(to, 'heard')).toBeLessThanOrEqual(saidBefore);
      }),
    );
    await expectEchoes(1);

    const said = await Promise.all(ways.map(({ from }) => last(from, 'said')));
    await both.apply(open);
    await expectHeard(Math.max(...said));
    // No line is missing; the last one may be incomplete.
    for (const { guest } of both.places) {
      expect(await guest.run("sed '$d' /run/heard | awk '$1 != NR'")).toBe('');
    }
  });
});

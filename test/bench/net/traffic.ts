import { bridgeName, networkNumber } from '@gantry/agent/network/kernel/names';
import { type Lab, openLab } from '@gantry/agent/network/testing/lab';
import { makeInterface, makeRule } from '@gantry/agent/testing/make-spec';
import { row } from '../fleet/table.ts';
import { median } from '../median.ts';
import { type NetGuest, runInGuest } from './guest.ts';
import { ordinaryRules } from './rules.ts';

/**
 * Measures a stream and new connections between two guests of a host with few and with many rules,
 * compared with no table and with the smallest stateful table. The cases alternate, so that noise
 * of the machine affects all of them.
 */
export type TrafficOptions = {
  rounds: number;
  seconds: number;
  rules: number;
  signal: AbortSignal;
};

const PORT = 5201;
const ADDRESS = '10.0.0.5';
const FEW = 10;
const WARM_UP_MS = 500;
const LEAST_RATIO = 0.9;
const MOST_RATIO = 1.1;
const interfaces = [
  makeInterface('server', { mac: '02:00:00:00:00:05', privateIpv4: `${ADDRESS}/24` }),
  makeInterface('client', { mac: '02:00:00:00:00:06', privateIpv4: '10.0.0.6/24' }),
] as const;

type Figures = {
  bytesPerS: number;
  connectionsPerS: number;
  msPerGb: number;
  usPerConnection: number;
};

export async function measureTraffic({ rounds, seconds, rules, signal }: TrafficOptions) {
  const lab = await openLab();
  let server: NetGuest | undefined;
  try {
    const guests = await prepare(lab);
    server = runInGuest(guests.server, 'serve', `${PORT}`);
    await server.read();
    const ways = waysOf(lab, rules);
    const measured = new Map(Object.keys(ways).map((name) => [name, [] as Figures[]]));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, enter] of Object.entries(ways)) {
        signal.throwIfAborted();
        await enter();
        measured.get(name)?.push(await measureOnce(guests.client, { server, seconds }));
      }
    }
    print(measured, rules);
  } finally {
    server?.end();
    await lab.close();
  }
}

async function prepare(lab: Lab) {
  const [server, client] = [await lab.addGuest(interfaces[0]), await lab.addGuest(interfaces[1])];
  const network = lab.network();
  await network.applyFirewall({ rules: [], interfaces });
  for (const iface of interfaces) await network.ensureInterfaces(`vm-${iface.id}`, [iface]);
  const { networkId } = interfaces[0];
  // Without our table packets have no mark. This route leads them the same way and always exists.
  const mark = networkNumber(networkId);
  await lab.ip(`rule add pref 900 iif ${bridgeName(networkId)} lookup ${mark}`);
  const timeouts = ['close', 'time_wait', 'fin_wait'].map(
    (state) => `net.netfilter.nf_conntrack_tcp_timeout_${state}=1`,
  );
  await lab.host.run('sysctl', '-qw', ...timeouts);
  return { server: server.netns, client: client.netns };
}

function waysOf(lab: Lab, count: number): Record<string, () => Promise<void>> {
  const network = lab.network();
  const { networkId } = interfaces[0];
  const open = [
    makeRule('out', { networkId, direction: 'DIRECTION_EGRESS', destinationPorts: [] }),
    makeRule('zz-in', { networkId, destinationPorts: [`${PORT}`] }),
  ];
  const withRules = (wanted: number) => async () => {
    await leavePlain(lab);
    const rules = [...open, ...ordinaryRules(wanted - open.length, networkId)];
    await network.applyFirewall({ rules, interfaces });
  };
  const withoutOurs = async () => {
    await leavePlain(lab);
    for (const family of ['inet', 'bridge']) {
      await lab.nft('delete', 'table', family, 'gantry').catch(() => undefined);
    }
  };
  return {
    plain: withoutOurs,
    stateful: async () => {
      await withoutOurs();
      await lab.nft(
        `table inet plain { chain forward { type filter hook forward priority filter; policy drop; ct state established accept; tcp dport ${PORT} accept; }; }`,
      );
    },
    few: withRules(FEW),
    many: withRules(count),
  };
}

async function leavePlain(lab: Lab): Promise<void> {
  await lab.nft('delete', 'table', 'inet', 'plain').catch(() => undefined);
}

type Under = { server: NetGuest; seconds: number };

async function measureOnce(client: string, { server, seconds }: Under): Promise<Figures> {
  const run = async <T>(role: string, ms = seconds * 1_000) => {
    const before = await server.ask<{ cpuMs: number }>();
    const guest = runInGuest(client, role, ADDRESS, `${PORT}`, `${ms}`);
    try {
      const reply = await guest.read<T & { tookMs: number; cpuMs: number }>();
      const after = await server.ask<{ cpuMs: number }>();
      return { ...reply, cpuMs: reply.cpuMs + after.cpuMs - before.cpuMs };
    } finally {
      guest.end();
    }
  };
  // The kernel may still be freeing the replaced table.
  await run('stream', WARM_UP_MS);
  const stream = await run<{ bytes: number }>('stream');
  const connections = await run<{ made: number }>('connect');
  return {
    bytesPerS: (stream.bytes / stream.tookMs) * 1_000,
    msPerGb: stream.cpuMs / (stream.bytes / 1e9),
    connectionsPerS: (connections.made / connections.tookMs) * 1_000,
    usPerConnection: (connections.cpuMs * 1_000) / connections.made,
  };
}

function print(measured: ReadonlyMap<string, Figures[]>, rules: number): void {
  const names: Record<string, string> = {
    ...{ plain: 'no table at all', stateful: 'a table of two lines' },
    ...{ few: `${FEW} rules`, many: `${rules} rules` },
  };
  const of = (way: string, key: keyof Figures) =>
    median((measured.get(way) ?? []).map((figures) => figures[key]));
  for (const [way, name] of Object.entries(names)) {
    row(`${name}: a stream`, of(way, 'bytesPerS') / 1e6, 'MB/s');
    row(`${name}: new connections`, of(way, 'connectionsPerS'), '/s');
    row(`${name}: CPU of both guests for a GB`, of(way, 'msPerGb'), 'ms');
    row(`${name}: CPU of both guests for a connection`, of(way, 'usPerConnection'), 'µs');
  }
  const ratio = (key: keyof Figures, way: string, base: string) => of(way, key) / of(base, key);
  const goal = { least: LEAST_RATIO };
  row(`stream, ${rules} rules beside ${FEW}`, ratio('bytesPerS', 'many', 'few'), '×', goal);
  row(
    `new connections, ${rules} rules beside ${FEW}`,
    ...([ratio('connectionsPerS', 'many', 'few'), '×', goal] as const),
  );
  // More informative than speed if other programs use the machine.
  const cost = { most: MOST_RATIO };
  row('CPU for a GB, likewise', ratio('msPerGb', 'many', 'few'), '×', cost);
  row('CPU for a connection, likewise', ratio('usPerConnection', 'many', 'few'), '×', cost);
  row('stream, beside no table', ratio('bytesPerS', 'many', 'plain'), '×');
  row('new connections, beside no table', ratio('connectionsPerS', 'many', 'plain'), '×');
  row('stream, beside two lines', ratio('bytesPerS', 'many', 'stateful'), '×');
  row('new connections, beside two lines', ratio('connectionsPerS', 'many', 'stateful'), '×');
}

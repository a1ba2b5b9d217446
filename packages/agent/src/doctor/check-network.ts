import { fail, ok, warn } from '../base/finding.ts';
import type { Check } from './doctor-host.ts';

export const checkNftables: Check = async ({ run }) => {
  try {
    await run('nft', ['list', 'tables']);
    return [ok('nftables', 'works')];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [fail('nftables', reason, 'apt-get install nftables; the kernel needs nf_tables')];
  }
};

/** With it, other programs' filters also apply to guests' packets. */
export const checkBridgeFilter: Check = async ({ files }) => {
  const isOn = (await files.integer('proc/sys/net/bridge/bridge-nf-call-iptables')) === 1;
  if (!isOn) return [ok('bridge filter', 'off')];
  return [
    warn(
      'bridge filter',
      'br_netfilter is on: rules of other programs, such as Docker, may drop packets of guests',
      'do not run them on this host, or set net.bridge.bridge-nf-call-iptables=0',
    ),
  ];
};

/**
 * Asks every name server that guests get. The host asks from its own address; a server that replies
 * only to some networks may still refuse guests.
 */
export const checkNameServers: Check = async ({ readNameServers, askNameServer, settings }) => {
  if (settings.uplink === undefined) return [];
  const servers = await readNameServers();
  if (servers.length === 0) {
    const found = 'none: guests resolve no names; the host itself names only loopback or IPv6 ones';
    return [fail('name servers', found, 'list some in GANTRY_NAMESERVERS')];
  }
  const problems = await Promise.all(servers.map(askNameServer));
  const broken = servers.flatMap((server, index) => {
    const problem = problems[index];
    return typeof problem === 'string' ? [`${server}: ${problem}`] : [];
  });
  if (broken.length === 0) return [ok('name servers', servers.join(', '))];
  const severity = broken.length === servers.length ? fail : warn;
  return [severity('name servers', broken.join('; '), 'list others in GANTRY_NAMESERVERS')];
};

export const checkUplink: Check = async ({ sysfs, settings: { uplink } }) => {
  if (uplink === undefined) {
    return [
      warn('uplink', 'none: guests reach only each other', 'name an interface in GANTRY_UPLINK'),
    ];
  }
  const state = await sysfs.text(`class/net/${uplink}/operstate`);
  if (state === undefined) {
    return [
      fail('uplink', `there is no interface ${uplink}`, 'set GANTRY_UPLINK to one that is there'),
    ];
  }
  if (state === 'down' || state === 'lowerlayerdown') {
    return [fail('uplink', `${uplink} is down`, `ip link set ${uplink} up, and see to its cable`)];
  }
  return [ok('uplink', `${uplink} is ${state}`)];
};

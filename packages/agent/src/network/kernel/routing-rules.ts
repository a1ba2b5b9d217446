import { isNetworkNumber } from './names.ts';
import type { RunCommand } from './run-command.ts';
import { METADATA_ADDRESS } from './service-addresses.ts';

/** Before the kernel's own rules, which start at 32766. */
const PREFERENCE = { hostAsks: '999', marked: '1000', hostOwn: '1001', hostToGuest: '1002' };

/**
 * Selects the packets for a network's routing table: those that carry its mark. If the host shall
 * reach its guests, also packets of the host itself, after all host routes except the default.
 * Returns the commands for missing rules.
 */
export async function planRoutingRules(
  run: RunCommand,
  { mark, reachableFromHost }: { mark: number; reachableFromHost: boolean },
): Promise<string[]> {
  const wanted = [['pref', PREFERENCE.marked, 'fwmark', `${mark}`, 'lookup', `${mark}`]];
  if (reachableFromHost) {
    const { hostAsks, hostOwn, hostToGuest } = PREFERENCE;
    wanted.push(
      // The host may use such a service itself.
      ['pref', hostAsks, 'iif', 'lo', 'to', METADATA_ADDRESS, 'lookup', 'main'],
      ['pref', hostOwn, 'iif', 'lo', 'lookup', 'main', 'suppress_prefixlength', '0'],
      ['pref', hostToGuest, 'iif', 'lo', 'lookup', `${mark}`],
    );
  }
  const present = parseRules(await run('ip', ['-json', 'rule', 'show']));
  const missing = wanted.filter((rule) => {
    const table = rule[rule.indexOf('lookup') + 1];
    return !present.some((other) => other.preference === rule[1] && other.table === table);
  });
  return missing.map((rule) => `rule add ${rule.join(' ')}`);
}

/** `isLast`: no network is left on the host. */
export async function removeRoutingRules(
  run: RunCommand,
  { mark, isLast }: { mark: number; isLast: boolean },
): Promise<void> {
  for (const { preference, table } of parseRules(await run('ip', ['-json', 'rule', 'show']))) {
    const isOfNetwork = table === `${mark}` && Object.values(PREFERENCE).includes(preference);
    const isForAll =
      [PREFERENCE.hostAsks, PREFERENCE.hostOwn].includes(preference) && table === 'main';
    if (!isOfNetwork && !(isLast && isForAll)) continue;
    await run('ip', ['rule', 'del', 'pref', preference, 'lookup', table]);
  }
}

/** Returns the marks of the networks that have routing rules of the agent. */
export async function listRoutedNetworks(run: RunCommand): Promise<number[]> {
  const listed = JSON.parse(await run('ip', ['-json', 'rule', 'show'])) as RuleListing;
  return listed.flatMap(({ priority, table, fwmark }) => {
    const isOurs = `${priority}` === PREFERENCE.marked && isNetworkNumber(Number(table));
    return isOurs && Number(fwmark) === Number(table) ? [Number(table)] : [];
  });
}

type RuleListing = { priority: number; table?: string; fwmark?: string }[];

export function parseRules(json: string): { preference: string; table: string }[] {
  return (JSON.parse(json) as RuleListing).map(({ priority, table = '' }) => ({
    preference: `${priority}`,
    table,
  }));
}

import type { RunCommand } from './run-command.ts';

/** Before the kernel's own, which begin at 32766. */
const PREFERENCE = { marked: '1000', hostOwn: '1001', hostToGuest: '1002' };

/**
 * Which packets a network's routing table is for: those that carry its mark. Where the host shall
 * reach its guests, also what the host sends itself, after the host's own routes save the default.
 * Answers the commands for those that are missing.
 */
export async function planRoutingRules(
  run: RunCommand,
  { mark, reachableFromHost }: { mark: number; reachableFromHost: boolean },
): Promise<string[]> {
  const wanted = [['pref', PREFERENCE.marked, 'fwmark', `${mark}`, 'lookup', `${mark}`]];
  if (reachableFromHost) {
    const { hostOwn, hostToGuest } = PREFERENCE;
    wanted.push(
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
    const isForAll = preference === PREFERENCE.hostOwn && table === 'main';
    if (!isOfNetwork && !(isLast && isForAll)) continue;
    await run('ip', ['rule', 'del', 'pref', preference, 'lookup', table]);
  }
}

type RuleListing = { priority: number; table?: string }[];

export function parseRules(json: string): { preference: string; table: string }[] {
  return (JSON.parse(json) as RuleListing).map(({ priority, table = '' }) => ({
    preference: `${priority}`,
    table,
  }));
}

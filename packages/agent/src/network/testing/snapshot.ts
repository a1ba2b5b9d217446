import type { Lab } from './lab.ts';

/**
 * The state of a host's kernel that its network could change, without what differs between hosts.
 */
export async function snapshot(lab: Lab): Promise<unknown> {
  const listing = async (program: string, ...args: string[]) =>
    JSON.parse((await lab.host.run(program, '-json', ...args)) || '[]');
  return plain({
    links: await listing('ip', '-details', 'link', 'show'),
    addresses: await listing('ip', 'address', 'show'),
    neighbours: await listing('ip', 'neigh', 'show', 'nud', 'permanent'),
    ports: await listing('bridge', '-details', 'link', 'show'),
    stations: await listing('bridge', 'fdb', 'show'),
    rules: await listing('ip', 'rule', 'show'),
    routes: await listing('ip', 'route', 'show', 'table', 'all'),
  });
}

/** Numbers and timers that the kernel assigns, and random MACs of taps. */
const PASSING = /^(ifindex|.*_timer|address|.*_id|stats.*|mac|id|no|designated_port|tc_.*|txqlen)$/;

function plain(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map(plain).filter((item) => !isOwnStation(item));
    return items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !PASSING.test(key))
      .map(([key, child]) => [key, plain(child)]),
  );
}

/** A port's own random address. */
function isOwnStation(item: unknown): boolean {
  return (
    JSON.stringify(item)?.includes('"state":"permanent"') && JSON.stringify(item).includes('"mac"')
  );
}

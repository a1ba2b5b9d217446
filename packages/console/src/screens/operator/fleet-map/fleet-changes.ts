import type { FleetHost } from './layout.ts';

type Event = { type: string; data: unknown };

/** Returns the ids of the hosts that an event of the stream concerns. */
export function hostsOfEvent({ type, data }: Event, hosts: readonly FleetHost[]): string[] {
  const { id, host_id } = (data ?? {}) as { id?: unknown; host_id?: unknown };
  if (type === 'devices') return typeof host_id === 'string' ? [host_id] : [];
  if (typeof id !== 'string') return [];
  if (type === 'host') return [id];
  if (type !== 'vm') return [];
  return hosts.filter(({ vms }) => vms.some((vm) => vm.id === id)).map((host) => host.id);
}

/** Puts hosts that were read again in the place of the old ones. Those that were asked for and are gone are removed. */
export function replaceHosts(
  before: readonly FleetHost[],
  asked: readonly string[],
  read: readonly FleetHost[],
): FleetHost[] {
  const fresh = new Map(read.map((host) => [host.id, host]));
  const isAsked = new Set(asked);
  const kept = before.flatMap((host) => {
    const now = isAsked.has(host.id) ? fresh.get(host.id) : host;
    fresh.delete(host.id);
    return now ?? [];
  });
  if (fresh.size === 0) return kept;
  return [...kept, ...fresh.values()].sort((a, b) => a.name.localeCompare(b.name, 'en'));
}

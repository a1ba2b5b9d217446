import type { Sql } from '@gantry/db/connect';
import {
  type NetworkMember,
  raiseNumbersForMembers,
  readNetworkMembers,
} from '@gantry/db/queries/hosts/network-members';
import type { Neighbour } from '@gantry/proto/generated/gantry/v1/Neighbour';
import { loadFleet } from '@gantry/proto/load';
import type { AttachedHost } from '../attached/attached-hosts.ts';

/**
 * A change of a VM concerns all hosts with VMs in its network. They are told at most this often, so that
 * a network of hundreds of VMs does not keep hundreds of hosts busy.
 */
const PAUSE_MS = 1_000;

type Network = {
  members: ReadonlyMap<string, NetworkMember>;
  /** Zero: not read yet. */
  version: number;
  readAtMs: number;
  /** The whole set as a message, once a host has needed it. */
  whole: Buffer | null;
  /** The attached hosts by id, and the version that each of them has; zero if it has none. */
  readonly hosts: Map<string, { readonly host: AttachedHost; version: number }>;
};

const { responseSerialize } = loadFleet().service.Attach;

/**
 * The VMs of the networks of attached hosts. A network is read once for all its hosts, and a change is one
 * message that is the same for all of them.
 */
export class NetworkMembers {
  readonly #sql: Sql;
  readonly #networks = new Map<string, Network>();
  /** Networks that have to be read. */
  readonly #changed = new Set<string>();
  /** Hosts that have to get the VMs in their specs, because their agents are of an earlier version. */
  readonly #toRaise = new Set<string>();

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  /** The attached host has VMs of these networks from now on, and of no others. */
  follow(host: AttachedHost, networkIds: readonly string[]): void {
    for (const networkId of host.networkIds)
      if (!networkIds.includes(networkId)) this.#leave(host, networkId);
    host.networkIds = networkIds;
    for (const networkId of networkIds) {
      const network = this.#networks.get(networkId) ?? this.#add(networkId);
      if (network.hosts.get(host.stream.hostId)?.host === host) continue;
      network.hosts.set(host.stream.hostId, { host, version: 0 });
      if (network.version === 0) this.#changed.add(networkId);
      else this.#bring(host, { networkId, network, change: null });
    }
  }

  /** The VMs of these networks may have changed. */
  noteChanges(networkIds: Iterable<string>): void {
    for (const networkId of networkIds)
      if (this.#networks.has(networkId)) this.#changed.add(networkId);
  }

  /** Whether hosts wait for changes. */
  get hasChanges(): boolean {
    return this.#changed.size + this.#toRaise.size > 0;
  }

  /** Changes may have been missed. */
  noteAll(): void {
    this.noteChanges(this.#networks.keys());
  }

  /** Reads the networks that changed, unless they were read a moment ago, and tells their hosts. */
  async spread(): Promise<void> {
    const nowMs = performance.now();
    const due = [...this.#changed].filter((networkId) => {
      const readAtMs = this.#networks.get(networkId)?.readAtMs ?? 0;
      return nowMs >= readAtMs + PAUSE_MS;
    });
    if (due.length + this.#toRaise.size === 0) return;
    for (const hostId of await this.#read(due)) this.#toRaise.add(hostId);
    const hostIds = [...this.#toRaise];
    if (hostIds.length === 0) return;
    await raiseNumbersForMembers(this.#sql, hostIds);
    for (const hostId of hostIds) this.#toRaise.delete(hostId);
  }

  /** Returns the VMs on other hosts, for an agent that gets them in its spec. */
  async neighboursOf(hostId: string, networkIds: readonly string[]) {
    const known = new Map(
      networkIds.flatMap((networkId) => {
        const network = this.#networks.get(networkId);
        return network?.version ? [[networkId, [...network.members.values()]] as const] : [];
      }),
    );
    const unread = networkIds.filter((networkId) => !known.has(networkId));
    const read = unread.length > 0 ? await readNetworkMembers(this.#sql, unread) : new Map();
    return new Map(
      networkIds.map((networkId) => {
        const members: NetworkMember[] = known.get(networkId) ?? read.get(networkId) ?? [];
        const elsewhere = members.filter(({ host_id }) => host_id !== hostId);
        return [networkId, elsewhere.map(toNeighbour)];
      }),
    );
  }

  #add(networkId: string): Network {
    const readAtMs = Number.NEGATIVE_INFINITY;
    const network = { members: new Map(), version: 0, readAtMs, whole: null, hosts: new Map() };
    this.#networks.set(networkId, network);
    return network;
  }

  /** A network without attached hosts is forgotten. */
  #leave(host: AttachedHost, networkId: string): void {
    const network = this.#networks.get(networkId);
    const { hostId } = host.stream;
    // The host may have a newer stream.
    if (network?.hosts.get(hostId)?.host !== host) return;
    network.hosts.delete(hostId);
    if (network.hosts.size > 0) return;
    this.#networks.delete(networkId);
    this.#changed.delete(networkId);
  }

  /** Returns the hosts that have to get the VMs in their specs, because their agents are of an earlier version. */
  async #read(networkIds: readonly string[]): Promise<string[]> {
    const found = await readNetworkMembers(this.#sql, networkIds);
    const earlierHostIds = new Set<string>();
    for (const networkId of networkIds) {
      const network = this.#networks.get(networkId);
      // Its last host may have left meanwhile.
      if (!network) continue;
      this.#changed.delete(networkId);
      network.readAtMs = performance.now();
      const before = network.members;
      const members = new Map((found.get(networkId) ?? []).map((row) => [row.address, row]));
      const changed = [...members.values()].filter((row) => !isSame(before.get(row.address), row));
      const removed = [...before.keys()].filter((address) => !members.has(address));
      if (network.version > 0 && changed.length + removed.length === 0) continue;
      const baseVersion = network.version;
      Object.assign(network, { members, version: baseVersion + 1, whole: null });
      const change = { baseVersion, message: toChange(networkId, network, { changed, removed }) };
      for (const [hostId, { host }] of network.hosts) {
        if (host.stream.takesPieces) this.#bring(host, { networkId, network, change });
        else earlierHostIds.add(hostId);
      }
    }
    return [...earlierHostIds];
  }

  /** Sends the change if it applies to the version that the host has, and the whole set otherwise. */
  #bring(
    host: AttachedHost,
    { networkId, network, change }: { networkId: string; network: Network; change: Change | null },
  ): void {
    const known = network.hosts.get(host.stream.hostId);
    if (!known || !host.stream.takesPieces) return;
    const held = known.version;
    known.version = network.version;
    if (change && held > 0 && held === change.baseVersion) {
      host.stream.sendEncoded(change.message);
      return;
    }
    network.whole ??= toMessage(networkId, {
      version: network.version,
      changed: [...network.members.values()],
    });
    host.stream.sendEncoded(network.whole);
  }
}

type Change = { baseVersion: number; message: Buffer };
type Difference = { changed: NetworkMember[]; removed: string[] };

function toChange(networkId: string, { version }: Network, difference: Difference): Buffer {
  return toMessage(networkId, { version, baseVersion: version - 1, ...difference });
}

function toMessage(
  networkId: string,
  of: { version: number; baseVersion?: number; changed: NetworkMember[]; removed?: string[] },
): Buffer {
  const changed = of.changed.map(toNeighbour);
  return responseSerialize({ members: [{ networkId, ...of, changed }] });
}

function toNeighbour(member: NetworkMember): Neighbour {
  return {
    privateIpv4: member.address,
    mac: member.mac_address,
    hostIpv4: member.underlay_address,
  };
}

function isSame(a: NetworkMember | undefined, b: NetworkMember): boolean {
  return (
    a !== undefined &&
    a.host_id === b.host_id &&
    a.mac_address === b.mac_address &&
    a.underlay_address === b.underlay_address
  );
}

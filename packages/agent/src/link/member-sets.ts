import type { NetworkMembers__Output } from '@gantry/proto/generated/gantry/v1/NetworkMembers';
import type { Neighbour } from '../spec.ts';

/** A change of a network does not apply to what this stream has brought so far. A new stream repairs it. */
export class MissedChange extends Error {}

/** The VMs of each network, as one stream has brought them. */
export class MemberSets {
  readonly #sets = new Map<string, { version: string; members: Map<string, Neighbour> }>();

  /** Returns all VMs of the network after the change. */
  apply({
    networkId,
    version,
    baseVersion,
    changed,
    removed,
  }: NetworkMembers__Output): Neighbour[] {
    const before = baseVersion === '0' ? null : this.#sets.get(networkId);
    if (before === undefined || (before !== null && before.version !== baseVersion))
      throw new MissedChange(`a change of the VMs of network ${networkId} is missing`);
    const members = before?.members ?? new Map<string, Neighbour>();
    for (const privateIpv4 of removed) members.delete(privateIpv4);
    for (const member of changed) members.set(member.privateIpv4, member);
    this.#sets.set(networkId, { version, members });
    return [...members.values()];
  }
}

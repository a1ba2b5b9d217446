import { createHash } from 'node:crypto';
import { MIB } from '@gantry/daemon/units';
import type { HostSpec } from '@gantry/proto/generated/gantry/v1/HostSpec';
import type { Neighbour } from '@gantry/proto/generated/gantry/v1/Neighbour';
import { loadFleet } from '@gantry/proto/load';

/** A part of a spec. The same object may be part of the specs of many hosts, and is then encoded once. */
export type SpecPart = {
  readonly hash: string;
  /** Only the fields of this part are set. */
  readonly content: HostSpec;
  encoded: Buffer | null;
};

/** A spec for one stream. Its content is that of its parts. */
export type OutgoingSpec = {
  readonly id: { readonly era: string; readonly number: string; readonly hash: string };
  readonly parts: readonly SpecPart[];
  /** These belong to the stream, and are not identified by the hash. */
  readonly consoles: NonNullable<HostSpec['consoles']>;
  readonly authoritySha256s: string[];
  /** An order to the agent itself, which is not identified by the hash either. */
  readonly agentUpgrade?: NonNullable<HostSpec['agentUpgrade']>;
  /** For logs and traces; not identified by the hash, because an operation ends without a new number. */
  readonly operations?: NonNullable<HostSpec['operations']>;
};

/** Larger pieces have a message of their own. An agent refuses a message of 4 MiB. */
const MESSAGE_BYTES = MIB;

const { responseSerialize } = loadFleet().service.Attach;

export function toSpecPart(content: HostSpec): SpecPart {
  const hash = createHash('sha256').update(JSON.stringify(content)).digest('base64url');
  return { hash, content, encoded: null };
}

/** Identifies the content of a spec together with its era and number. */
export function hashOf(id: { era: string; number: string }, parts: readonly SpecPart[]): string {
  const hash = createHash('sha256').update(`${id.era} ${id.number}`);
  for (const part of parts) hash.update(` ${part.hash}`);
  return hash.digest('hex');
}

/** Returns the spec as one message, for an agent that does not take pieces. */
export function toWholeSpec({ id, parts, ...others }: OutgoingSpec): HostSpec {
  const all = <T>(field: (content: HostSpec) => T[] | undefined): T[] =>
    parts.flatMap(({ content }) => field(content) ?? []);
  return {
    ...id,
    vms: all(({ vms }) => vms),
    takeDowns: all(({ takeDowns }) => takeDowns),
    disks: all(({ disks }) => disks),
    deletedDisks: all(({ deletedDisks }) => deletedDisks),
    firewallRules: all(({ firewallRules }) => firewallRules),
    diskLimits: all(({ diskLimits }) => diskLimits),
    freezes: all(({ freezes }) => freezes),
    snapshots: all(({ snapshots }) => snapshots),
    deletedSnapshots: all(({ deletedSnapshots }) => deletedSnapshots),
    diskCopies: all(({ diskCopies }) => diskCopies),
    diskRestores: all(({ diskRestores }) => diskRestores),
    imageExports: all(({ imageExports }) => imageExports),
    networks: all(({ networks }) => networks),
    ...others,
  };
}

/**
 * Returns the spec with the VMs on other hosts, for an agent that does not take them apart from it. They
 * are not identified by the hash.
 */
export function withNeighbours(
  spec: OutgoingSpec,
  neighbours: ReadonlyMap<string, Neighbour[]>,
): OutgoingSpec {
  const parts = spec.parts.map((part) => {
    const { networks } = part.content;
    if (!networks) return part;
    const joined = networks.map(({ membersApart: _, ...network }) => ({
      ...{ ...network, neighbours: neighbours.get(network.id ?? '') ?? [] },
    }));
    return { ...part, content: { networks: joined }, encoded: null };
  });
  return { ...spec, parts };
}

/** Returns the messages that bring the spec to an agent that has the parts with these hashes. */
export function toMessages(
  { id, parts, ...others }: OutgoingSpec,
  held: ReadonlySet<string>,
): HostSpec[] {
  const messages: HostSpec[] = [];
  let pieces: NonNullable<HostSpec['pieces']> = [];
  let bytes = 0;
  const added = new Set<string>();
  for (const part of parts) {
    if (held.has(part.hash) || added.has(part.hash)) continue;
    added.add(part.hash);
    part.encoded ??= responseSerialize(part.content);
    if (bytes > 0 && bytes + part.encoded.length > MESSAGE_BYTES) {
      messages.push({ pieces });
      pieces = [];
      bytes = 0;
    }
    pieces.push({ hash: part.hash, content: part.encoded });
    bytes += part.encoded.length;
  }
  messages.push({ ...id, ...others, pieceHashes: parts.map(({ hash }) => hash), pieces });
  return messages;
}

import type { HostSpec__Output } from '@gantry/proto/generated/gantry/v1/HostSpec';
import type { HostSpec } from '../spec.ts';

/** The agent lacks a piece that the scheduler believes it has. A new stream brings all of them. */
export class MissingPiece extends Error {}

/**
 * Puts specs together from the pieces in which they arrive. The pieces of the last spec are kept for as
 * long as the process lives, so that a new stream brings only the ones that changed.
 */
export class SpecPieces {
  readonly #decode: (content: Buffer) => HostSpec__Output;
  #pieces = new Map<string, HostSpec__Output>();
  #held = '';

  constructor(decode: (content: Buffer) => HostSpec__Output) {
    this.#decode = decode;
  }

  /** The hash of the spec whose pieces are here; empty if there is none. */
  get held(): string {
    return this.#held;
  }

  /** Returns the complete spec; null if the message brings only pieces of the next one. */
  receive(message: HostSpec__Output): HostSpec | null {
    const { pieces, pieceHashes, members, ...header } = message;
    for (const { hash, content } of pieces) this.#pieces.set(hash, this.#decode(content));
    if (header.number === '0' && pieces.length + members.length > 0) return null;
    // The agent refuses a spec whose kinds of devices it does not know, before anything reads them.
    if (pieceHashes.length === 0) return header as HostSpec;
    const parts = new Map<string, HostSpec__Output>();
    for (const hash of pieceHashes) {
      const piece = this.#pieces.get(hash);
      if (!piece) {
        this.#forget();
        throw new MissingPiece(`the spec ${header.number} has a piece that this agent lacks`);
      }
      parts.set(hash, piece);
    }
    this.#pieces = parts;
    this.#held = header.hash;
    return join(header as HostSpec, [...parts.values()]);
  }

  #forget(): void {
    this.#pieces.clear();
    this.#held = '';
  }
}

function join(header: HostSpec, parts: HostSpec__Output[]): HostSpec {
  return {
    ...header,
    vms: parts.flatMap(({ vms }) => vms) as HostSpec['vms'],
    takeDowns: parts.flatMap(({ takeDowns }) => takeDowns) as HostSpec['takeDowns'],
    disks: parts.flatMap(({ disks }) => disks),
    deletedDisks: parts.flatMap(({ deletedDisks }) => deletedDisks),
    firewallRules: parts.flatMap(({ firewallRules }) => firewallRules),
    diskLimits: parts.flatMap(({ diskLimits }) => diskLimits),
    freezes: parts.flatMap(({ freezes }) => freezes),
    snapshots: parts.flatMap(({ snapshots }) => snapshots),
    deletedSnapshots: parts.flatMap(({ deletedSnapshots }) => deletedSnapshots),
    diskCopies: parts.flatMap(({ diskCopies }) => diskCopies),
    diskRestores: parts.flatMap(({ diskRestores }) => diskRestores),
    imageExports: parts.flatMap(({ imageExports }) => imageExports),
    networks: parts.flatMap(({ networks }) => networks),
  };
}

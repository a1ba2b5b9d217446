import type { ConsoleRelay } from '../consoles/console-relay.ts';
import type { HostStream } from '../fleet/host-stream.ts';
import type { HostReport } from '../settle/host-report.ts';

/**
 * The hosts whose streams this process holds, by id. Ten thousand of them: each entry is small, and
 * nothing here has a timer of its own.
 */
export type AttachedHost = {
  readonly stream: HostStream;
  readonly streamEpoch: string;
  /** Number of the last spec sent by this stream; zero: none yet. */
  sentNumber: number;
  /** When it was sent. */
  sentAtMs: number;
  /** Infinite while nothing is read from it: its silence then says nothing. */
  heardAtMs: number;
  /** The newest report that is not settled yet. */
  unsettled: HostReport | null;
  settling: boolean;
  /** What the last settled report said, so that the same again costs nothing. */
  settledDigest: string;
  /** Those that should be open on it now, by id. */
  readonly consoles: Map<string, ConsoleRelay>;
};

export class AttachedHosts {
  readonly #hosts = new Map<string, AttachedHost>();

  /** A host has one stream here: an older one is cut. */
  add(stream: HostStream, streamEpoch: string): AttachedHost {
    this.#hosts.get(stream.hostId)?.stream.cut('the host has opened another stream');
    const host: AttachedHost = {
      stream,
      streamEpoch,
      sentNumber: 0,
      sentAtMs: Number.NEGATIVE_INFINITY,
      heardAtMs: Number.POSITIVE_INFINITY,
      unsettled: null,
      settling: false,
      settledDigest: '',
      consoles: new Map(),
    };
    this.#hosts.set(stream.hostId, host);
    return host;
  }

  /** The entry that belonged to the stream; undefined where it never got one, or lost it to another. */
  remove(stream: HostStream): AttachedHost | undefined {
    const host = this.#hosts.get(stream.hostId);
    if (host?.stream !== stream) return undefined;
    this.#hosts.delete(stream.hostId);
    return host;
  }

  of(stream: HostStream): AttachedHost | undefined {
    const host = this.#hosts.get(stream.hostId);
    return host?.stream === stream ? host : undefined;
  }

  get(hostId: string): AttachedHost | undefined {
    return this.#hosts.get(hostId);
  }

  values(): IterableIterator<AttachedHost> {
    return this.#hosts.values();
  }

  get size(): number {
    return this.#hosts.size;
  }
}

import type { HostStream } from '../fleet/host-stream.ts';
import type { ConsoleRelay } from './console-relay.ts';
import type { HostReport } from './host-report.ts';
import { SentSpecs } from './sent-specs.ts';

/**
 * A host whose stream this process holds. There may be ten thousand of them, so an entry is small and
 * has no timer.
 */
export type AttachedHost = {
  readonly stream: HostStream;
  readonly streamEpoch: string;
  readonly sent: SentSpecs;
  /** The networks whose members are in the spec of the host. */
  networkIds: readonly string[];
  /** When the last spec was sent. */
  sentAtMs: number;
  /** The time of the last report. Infinite while this process does not read from the stream. */
  heardAtMs: number;
  /** The newest report that is not settled yet. */
  unsettled: HostReport | null;
  settling: boolean;
  /** Whether what the host had when an era began was compared with the database, if it had to be. */
  isCompared: boolean;
  /** How often in a row its reports failed for a reason of the report itself. */
  unsettleable: number;
  /** As its last inventory has it. Empty before the first one. */
  agentVersion: string;
  /** The digest of the last settled report, so that an equal report costs almost nothing. */
  settledDigest: string;
  /** The consoles that should be open on the host, by id. */
  readonly consoles: Map<string, ConsoleRelay>;
};

/** The consoles that should be open on the host. */
export function consolesOf({ consoles }: AttachedHost): { id: string; vmId: string }[] {
  return [...consoles.values()].map(({ id, vmId }) => ({ id, vmId }));
}

export class AttachedHosts {
  readonly #hosts = new Map<string, AttachedHost>();

  /** A host has one stream in this process: an older one is aborted. */
  add(stream: HostStream, streamEpoch: string): AttachedHost {
    this.#hosts.get(stream.hostId)?.stream.abort('the host has opened a newer stream');
    const host: AttachedHost = {
      stream,
      streamEpoch,
      sent: new SentSpecs(),
      networkIds: [],
      sentAtMs: Number.NEGATIVE_INFINITY,
      heardAtMs: Number.POSITIVE_INFINITY,
      unsettled: null,
      settling: false,
      isCompared: false,
      unsettleable: 0,
      agentVersion: '',
      settledDigest: '',
      consoles: new Map(),
    };
    this.#hosts.set(stream.hostId, host);
    return host;
  }

  /** Returns the entry of this stream. Undefined if it has none, or if a newer stream replaced it. */
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

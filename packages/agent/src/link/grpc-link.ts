import { Backoff } from '@gantry/daemon/backoff';
import type { Log } from '@gantry/daemon/log';
import type { FleetClient } from '@gantry/proto/generated/gantry/v1/Fleet';
import type { HostReport } from '@gantry/proto/generated/gantry/v1/HostReport';
import type { HostSpec__Output } from '@gantry/proto/generated/gantry/v1/HostSpec';
import type { Fleet } from '@gantry/proto/load';
import {
  type ChannelCredentials,
  type ChannelOptions,
  type ClientDuplexStream,
  connectivityState,
  Metadata,
} from '@grpc/grpc-js';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Connect, ConsoleStream, Link, LinkPeer } from './link.ts';
import { MemberSets } from './member-sets.ts';
import { SpecPieces } from './spec-pieces.ts';

export type GrpcLinkOptions = {
  /** From loadFleet(); shared by all links of a process. */
  fleet: Fleet;
  log: Log;
  /**
   * Called before every attempt, so that another scheduler or a new certificate is used at once.
   */
  address: () => string;
  credentials: () => ChannelCredentials;
  /** Called with the authorities that the fleet trusts, for every spec that names them. */
  onAuthorities?: ((sha256s: readonly string[]) => void) | undefined;
  /** Called when a scheduler has accepted a stream, and when the stream has ended. */
  onAttached?: ((isAttached: boolean) => void) | undefined;
  clock?: Clock;
  heartbeatMs?: number;
  backoff?: { minMs: number; maxMs: number };
  channelOptions?: ChannelOptions;
  random?: () => number;
};

const HEARTBEAT_MS = 10_000;
const BACKOFF = { minMs: 100, maxMs: 5_000 };
/**
 * How long a scheduler may take to accept the connection, and to reply to a ping. After that the link
 * tries another one. With the pause between pings, a scheduler that hangs is left within 5 s.
 *
 * A scheduler that is only slow, because thousands of hosts attach to it at once, would become slower
 * if they all left and came back. So the patience doubles, from the second time on, each time a
 * scheduler does not accept the connection in time, or a connection is lost soon after its stream
 * began. It is short again after a stream has lasted. A scheduler that ends a stream itself, for
 * example because its database restarts, is not slow.
 */
const PATIENCE = { minMs: 2_000, maxMs: 20_000 };
/** A stream that lasts this long shows that the scheduler keeps up. */
const LASTING_MS = 60_000;
const CHANNEL_OPTIONS: ChannelOptions = {
  // The pause between pings. The event loop of the scheduler replies, so a blocked one does not. Ten
  // thousand hosts send 5,000 pings a second, which cost less than messages: HTTP/2 replies itself.
  'grpc.keepalive_time_ms': 2_000,
  // The link spaces its attempts itself, so the channel must not wait longer.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 5_000,
  'grpc.enable_retries': 0,
  // Each attempt uses a fresh connection without the backoff of the last one. With thousands of
  // links in one process it also avoids searching a shared pool.
  'grpc.use_local_subchannel_pool': 1,
  // Nothing reads the channelz statistics.
  'grpc.enable_channelz': 0,
};

type Stream = ClientDuplexStream<HostReport, HostSpec__Output>;

/** Creates a link that uses the Fleet service's Attach call. */
export function grpcLink(options: GrpcLinkOptions): Connect {
  return (peer) => new GrpcLink(options, peer);
}

/**
 * Keeps one stream at a time, on a channel that ends with the stream. When a stream ends, the next
 * one starts after a pause. The pauses grow until a scheduler sends a spec.
 */
class GrpcLink implements Link {
  readonly #options: GrpcLinkOptions;
  readonly #peer: LinkPeer;
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  readonly #pieces: SpecPieces;
  #client: FleetClient | null = null;
  #stream: Stream | null = null;
  /** The only timer: for the next attempt without a stream, for the heartbeat with one. */
  #cancelTimer: (() => void) | null = null;
  /** Whether this stream's first report was sent; a heartbeat before it has no meaning. */
  #hasReported = false;
  /** Connections that were lost early since a stream has lasted. */
  #earlyLosses = 0;
  #beganAtMs = 0;
  #ended = false;

  constructor(options: GrpcLinkOptions, peer: LinkPeer) {
    this.#options = options;
    this.#peer = peer;
    this.#clock = options.clock ?? systemClock;
    this.#pieces = new SpecPieces(options.fleet.service.Attach.responseDeserialize);
    const random = options.random ?? Math.random;
    this.#backoff = new Backoff({ ...(options.backoff ?? BACKOFF), random });
    // Attaches later, because the agent that creates the link is not complete yet.
    this.#setTimer(0, () => this.#attach());
  }

  send(report: HostReport): boolean {
    if (!this.#stream) return false;
    this.#stream.write(report);
    if (!this.#hasReported) {
      this.#hasReported = true;
      // The first heartbeat is at a random time, so that hosts that reconnect together do not send
      // theirs together.
      const random = this.#options.random ?? Math.random;
      this.#setTimer(Math.ceil(random() * this.#heartbeatMs()), () => this.#beat());
    } else {
      this.#setTimer(this.#heartbeatMs(), () => this.#beat());
    }
    return true;
  }

  openConsole(consoleId: string): ConsoleStream | null {
    if (!this.#stream || !this.#client) return null;
    const metadata = new Metadata();
    metadata.set('gantry-console', consoleId);
    return this.#client.console(metadata);
  }

  reattach(): void {
    if (this.#ended) return;
    this.#backoff.reset();
    this.#drop();
    this.#setTimer(0, () => this.#attach());
  }

  end(): void {
    this.#ended = true;
    this.#cancelTimer?.();
    this.#stream?.end();
    this.#drop();
  }

  #attach(): void {
    const { fleet: Fleet, address, credentials, channelOptions } = this.#options;
    const patienceMs = this.#patienceMs();
    let client: FleetClient;
    try {
      client = new Fleet(address(), credentials(), {
        ...CHANNEL_OPTIONS,
        'grpc.keepalive_timeout_ms': patienceMs,
        ...channelOptions,
      });
    } catch (error) {
      this.#lost(error);
      return;
    }
    this.#client = client;
    this.#await(client, Date.now() + patienceMs);
  }

  /** Waits for the connection, so that a report is built only if it can be sent. */
  #await(client: FleetClient, deadlineMs: number): void {
    const channel = client.getChannel();
    const state = channel.getConnectivityState(true);
    // The call is started on a failed channel too: its error says why the channel failed.
    if (state === connectivityState.READY || state === connectivityState.TRANSIENT_FAILURE) {
      this.#begin(client, state === connectivityState.READY);
      return;
    }
    channel.watchConnectivityState(state, deadlineMs, (error) => {
      if (this.#client !== client) return;
      if (!error) {
        this.#await(client, deadlineMs);
        return;
      }
      this.#earlyLosses += 1;
      this.#lost(error);
    });
  }

  #begin(client: FleetClient, isConnected: boolean): void {
    const metadata = new Metadata();
    metadata.set('gantry-pieces', this.#pieces.held || 'none');
    const stream: Stream = client.attach(metadata);
    const isThis = () => this.#stream === stream;
    this.#stream = stream;
    this.#hasReported = false;
    this.#beganAtMs = this.#clock.nowMs();
    const end = (error: unknown) => {
      if (!isThis()) return;
      const hasLasted = this.#clock.nowMs() >= this.#beganAtMs + LASTING_MS;
      if (hasLasted) this.#earlyLosses = 0;
      else if (isConnected && !isReady(client)) this.#earlyLosses += 1;
      this.#lost(error);
    };
    const members = new MemberSets();
    stream.on('data', (message: HostSpec__Output) => {
      if (!isThis()) return;
      try {
        this.#receive(message, members);
      } catch (error) {
        end(error);
      }
    });
    stream.on('error', end);
    stream.on('end', () => end(null));
    if (isConnected) this.#peer.attached();
  }

  #receive(message: HostSpec__Output, members: MemberSets): void {
    // Also if the agent refuses the spec: the connection must not depend on it.
    const { authoritySha256s } = message;
    if (authoritySha256s.length > 0) this.#options.onAuthorities?.(authoritySha256s);
    for (const change of message.members)
      this.#peer.receivedMembers(change.networkId, members.apply(change));
    const spec = this.#pieces.receive(message);
    if (!spec) return;
    this.#options.onAttached?.(true);
    this.#backoff.reset();
    this.#peer.received(spec);
  }

  #patienceMs(): number {
    const doublings = Math.max(0, this.#earlyLosses - 1);
    return Math.min(PATIENCE.maxMs, PATIENCE.minMs * 2 ** doublings);
  }

  #beat(): void {
    // A heartbeat behind an unsent report adds nothing, and heartbeats would pile up.
    if (this.#stream?.writableLength === 0) this.send({ unchanged: true });
    else this.#setTimer(this.#heartbeatMs(), () => this.#beat());
  }

  #lost(error: unknown): void {
    this.#drop();
    if (this.#ended) return;
    const pauseMs = this.#backoff.nextMs();
    this.#options.log.warn(
      { error, pause_ms: pauseMs },
      'no scheduler reached; retrying after a pause',
    );
    this.#setTimer(pauseMs, () => this.#attach());
  }

  #drop(): void {
    const stream = this.#stream;
    if (stream) this.#options.onAttached?.(false);
    this.#stream = null;
    this.#hasReported = false;
    stream?.cancel();
    this.#client?.close();
    this.#client = null;
  }

  #setTimer(delayMs: number, run: () => void): void {
    this.#cancelTimer?.();
    this.#cancelTimer = this.#clock.after(delayMs, run);
  }

  #heartbeatMs(): number {
    return this.#options.heartbeatMs ?? HEARTBEAT_MS;
  }
}

function isReady(client: FleetClient): boolean {
  return client.getChannel().getConnectivityState(false) === connectivityState.READY;
}

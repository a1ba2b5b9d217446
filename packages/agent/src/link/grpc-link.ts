import { Backoff } from '@gantry/daemon/backoff';
import type { Log } from '@gantry/daemon/log';
import type { FleetClient } from '@gantry/proto/generated/gantry/v1/Fleet';
import type { HostReport } from '@gantry/proto/generated/gantry/v1/HostReport';
import type { Fleet } from '@gantry/proto/load';
import {
  type ChannelCredentials,
  type ChannelOptions,
  type ClientDuplexStream,
  connectivityState,
  Metadata,
} from '@grpc/grpc-js';
import { type Clock, systemClock } from '../base/clock.ts';
import type { HostSpec } from '../spec.ts';
import type { Connect, ConsoleStream, Link, LinkPeer } from './link.ts';

export type GrpcLinkOptions = {
  /** From loadFleet(): made once for all links of a process. */
  fleet: Fleet;
  log: Log;
  /** Asked before every attempt, so that another scheduler or a new certificate is used at once. */
  address: () => string;
  credentials: () => ChannelCredentials;
  clock?: Clock;
  heartbeatMs?: number;
  backoff?: { minMs: number; maxMs: number };
  channelOptions?: ChannelOptions;
  random?: () => number;
};

const HEARTBEAT_MS = 10_000;
const BACKOFF = { minMs: 100, maxMs: 5_000 };
/** A scheduler that does not take the connection in this time is tried anew, perhaps elsewhere. */
const CONNECT_LIMIT_MS = 10_000;
const CHANNEL_OPTIONS: ChannelOptions = {
  // A peer that vanished without a word is found out after both together.
  'grpc.keepalive_time_ms': 20_000,
  'grpc.keepalive_timeout_ms': 10_000,
  // Attempts are spaced here: the channel must not wait longer on its own.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 5_000,
  'grpc.enable_retries': 0,
  // A fresh connection each time, with no pause left over from the last; and with thousands of links
  // in one process no search through all of theirs.
  'grpc.use_local_subchannel_pool': 1,
  // Bookkeeping nobody reads.
  'grpc.enable_channelz': 0,
};

type Stream = ClientDuplexStream<HostReport, HostSpec>;

/** A link over the Fleet service's Attach. */
export function grpcLink(options: GrpcLinkOptions): Connect {
  return (peer) => new GrpcLink(options, peer);
}

/**
 * One stream at a time, on a channel of its own that ends with it. When a stream ends, for whatever
 * reason, the next is begun after a pause; the pauses grow until a scheduler answers.
 */
class GrpcLink implements Link {
  readonly #options: GrpcLinkOptions;
  readonly #peer: LinkPeer;
  readonly #clock: Clock;
  readonly #backoff: Backoff;
  #client: FleetClient | null = null;
  #stream: Stream | null = null;
  /** The one timer: for the next attempt while there is no stream, for the heartbeat while there is. */
  #cancelTimer: (() => void) | null = null;
  /** Whether this stream's first report was sent: before it a heartbeat would say nothing. */
  #hasReported = false;
  #ended = false;

  constructor(options: GrpcLinkOptions, peer: LinkPeer) {
    this.#options = options;
    this.#peer = peer;
    this.#clock = options.clock ?? systemClock;
    const random = options.random ?? Math.random;
    this.#backoff = new Backoff({ ...(options.backoff ?? BACKOFF), random });
    // Not before the agent that is being made can answer.
    this.#setTimer(0, () => this.#attach());
  }

  send(report: HostReport): boolean {
    if (!this.#stream) return false;
    this.#stream.write(report);
    if (!this.#hasReported) {
      this.#hasReported = true;
      // Anywhere in the first turn, so that hosts that came back together do not beat together.
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
    let client: FleetClient;
    try {
      client = new Fleet(address(), credentials(), { ...CHANNEL_OPTIONS, ...channelOptions });
    } catch (error) {
      this.#lost(error);
      return;
    }
    this.#client = client;
    this.#await(client, Date.now() + CONNECT_LIMIT_MS);
  }

  /** A report is made only once someone is there to take it. */
  #await(client: FleetClient, deadlineMs: number): void {
    const channel = client.getChannel();
    const state = channel.getConnectivityState(true);
    // Begun also on a failed channel: the call's error says why it failed.
    if (state === connectivityState.READY || state === connectivityState.TRANSIENT_FAILURE) {
      this.#begin(client, state === connectivityState.READY);
      return;
    }
    channel.watchConnectivityState(state, deadlineMs, (error) => {
      if (this.#client !== client) return;
      if (error) this.#lost(error);
      else this.#await(client, deadlineMs);
    });
  }

  #begin(client: FleetClient, isConnected: boolean): void {
    // The agent refuses a spec whose kinds of devices it does not know, before anything reads them.
    const stream = client.attach() as unknown as Stream;
    const isThis = () => this.#stream === stream;
    this.#stream = stream;
    this.#hasReported = false;
    stream.on('data', (spec: HostSpec) => {
      if (!isThis()) return;
      this.#backoff.reset();
      this.#peer.received(spec);
    });
    stream.on('error', (error) => isThis() && this.#lost(error));
    stream.on('end', () => isThis() && this.#lost(null));
    if (isConnected) this.#peer.attached();
  }

  #beat(): void {
    // Behind a report that has not left yet it would say nothing, and pile up.
    if (this.#stream?.writableLength === 0) this.send({ unchanged: true });
    else this.#setTimer(this.#heartbeatMs(), () => this.#beat());
  }

  #lost(error: unknown): void {
    this.#drop();
    if (this.#ended) return;
    const pauseMs = this.#backoff.nextMs();
    this.#options.log.warn({ error, pauseMs }, 'no scheduler; attaching again after a pause');
    this.#setTimer(pauseMs, () => this.#attach());
  }

  #drop(): void {
    const stream = this.#stream;
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

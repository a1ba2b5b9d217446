import type {
  ConsoleBytes,
  ConsoleBytes__Output,
} from '@gantry/proto/generated/gantry/v1/ConsoleBytes';
import type { HostReport } from '@gantry/proto/generated/gantry/v1/HostReport';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { HostSpec } from '../spec.ts';

/**
 * The agent's way to the schedulers, whatever carries it. A link attaches by itself, again and
 * again, for as long as it is not ended.
 */
export type Link = {
  /** Hands a report to the stream. False: there is none now, and the next `attached` asks anew. */
  send(report: HostReport): boolean;
  /** The stream of one console, to the scheduler that asked for it. Null: there is none now. */
  openConsole(consoleId: string): ConsoleStream | null;
  /** Attaches anew at once, with the certificate there is now. */
  reattach(): void;
  end(): void;
};

/** To cancel it is to leave without a word. */
export type ConsoleStream = ClientDuplexStream<ConsoleBytes, ConsoleBytes__Output>;

/** What a link tells the agent. */
export type LinkPeer = {
  /** A stream has begun: its first message must be a whole report with the inventory. */
  attached(): void;
  received(spec: HostSpec): void;
};

export type Connect = (peer: LinkPeer) => Link;

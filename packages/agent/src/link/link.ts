import type {
  ConsoleBytes,
  ConsoleBytes__Output,
} from '@gantry/proto/generated/gantry/v1/ConsoleBytes';
import type { HostReport } from '@gantry/proto/generated/gantry/v1/HostReport';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { HostSpec, Neighbour } from '../spec.ts';

/** The agent's connection to the schedulers. A link reconnects by itself until it is ended. */
export type Link = {
  /**
   * Writes a report to the stream. Returns false without a stream; the next `attached` asks for a
   * report again.
   */
  send(report: HostReport): boolean;
  /**
   * Opens the stream of one console to the scheduler that asked for it. Returns null without a
   * stream.
   */
  openConsole(consoleId: string): ConsoleStream | null;
  /** Reconnects at once with the current certificate. */
  reattach(): void;
  end(): void;
};

/** Cancelling it closes the console without a message to the scheduler. */
export type ConsoleStream = ClientDuplexStream<ConsoleBytes, ConsoleBytes__Output>;

/** What a link notifies the agent of. */
export type LinkPeer = {
  /** A stream has started. Its first message must be a complete report with the inventory. */
  attached(): void;
  received(spec: HostSpec): void;
  /** These are all VMs of the network that can be reached. VMs of this host may be among them. */
  receivedMembers(networkId: string, members: Neighbour[]): void;
};

export type Connect = (peer: LinkPeer) => Link;

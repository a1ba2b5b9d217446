/**
 * libvirt's keepalive: a ping when nothing was heard for an interval, and the end when several in a
 * row brought no sign of life. Any packet counts as one.
 */
import {
  KEEPALIVE_PROCEDURE,
  KEEPALIVE_PROGRAM,
  NET_MESSAGE_STATUS,
  NET_MESSAGE_TYPE,
} from './generated/constants.ts';
import { encodePacket, type Packet } from './packet.ts';

export type KeepaliveOptions = {
  /** How long it may be quiet before a ping. */
  intervalMs: number;
  /** How many pings in a row may stay without an answer. */
  count: number;
};

export const PING = encodeKeepalive(KEEPALIVE_PROCEDURE.ping);
const PONG = encodeKeepalive(KEEPALIVE_PROCEDURE.pong);

/** What to send back, if anything. */
export function answerKeepalive(packet: Packet): Buffer | undefined {
  return packet.procedure === KEEPALIVE_PROCEDURE.ping ? PONG : undefined;
}

function encodeKeepalive(procedure: number): Buffer {
  const header = { type: NET_MESSAGE_TYPE.message, status: NET_MESSAGE_STATUS.ok, serial: 0 };
  return encodePacket({ ...header, program: KEEPALIVE_PROGRAM, procedure, body: Buffer.alloc(0) });
}

export class Keepalive {
  readonly #timer: NodeJS.Timeout;
  #unanswered = 0;
  #heard = false;

  constructor(
    options: KeepaliveOptions & {
      ping: () => void;
      dead: () => void;
      /** While nothing is read, silence says nothing about the peer. */
      isPaused: () => boolean;
    },
  ) {
    const { intervalMs, count, ping, dead, isPaused } = options;
    this.#timer = setInterval(() => {
      if (this.#heard || isPaused()) {
        this.#heard = false;
        this.#unanswered = 0;
      } else if (this.#unanswered >= count) {
        dead();
      } else {
        this.#unanswered += 1;
        ping();
      }
    }, intervalMs);
    // The connection's socket keeps the process alive, not its supervision.
    this.#timer.unref();
  }

  heard(): void {
    this.#heard = true;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

/**
 * libvirt's keepalive: sends a ping if no packet arrived during an interval, and closes the
 * connection after several pings without any packet.
 */
import {
  KEEPALIVE_PROCEDURE,
  KEEPALIVE_PROGRAM,
  NET_MESSAGE_STATUS,
  NET_MESSAGE_TYPE,
} from '../generated/constants.ts';
import { encodePacket, type Packet } from '../packet.ts';

export type KeepaliveOptions = {
  /** The time without packets before a ping. */
  intervalMs: number;
  /** The number of pings without a reply before the connection is closed. */
  count: number;
};

export const PING = encodeKeepalive(KEEPALIVE_PROCEDURE.ping);
const PONG = encodeKeepalive(KEEPALIVE_PROCEDURE.pong);

/** The packet to send back, if any. */
export function replyToKeepalive(packet: Packet): Buffer | undefined {
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
      /** While nothing is read, missing packets do not mean that the peer is gone. */
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
    // The socket keeps the process alive; the timer must not.
    this.#timer.unref();
  }

  heard(): void {
    this.#heard = true;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}

import { connect as dial, type Socket } from 'node:net';

/** What postgres.js passes to its option `socket`: the hosts of the URL, or the path of a Unix socket. */
export type Target = { host: string[]; port: number[]; path: string | false };
/** One function per connection of a pool. It returns whether a statement has no complete reply yet. */
export type IsWaiting = () => boolean;
type Entry = {
  socket: Socket;
  /** The host of the URL that the connection tries next. */
  next: number;
  /** How long a statement may wait without a byte. */
  limitMs: number;
  bytesRead: number;
  silentMs: number;
};

const KEEPALIVE_MS = 5_000;

/** The error of a connection that is closed because the server does not reply. */
class NoReply extends Error {
  readonly code = 'CONNECTION_SILENT';
}

/**
 * The sockets of a process's database connections. A server that disappears without a reset leaves
 * sockets on which nothing arrives any more, and the kernel reports an error only after many minutes:
 * Node cannot set TCP_USER_TIMEOUT. So the owner of the pools closes silent sockets itself. The
 * statements on a closed socket fail, and their connection is opened again.
 *
 * Time is the sum of the owner's ticks, not a clock: a process that was paused has not waited.
 */
export class Sockets {
  readonly #entries = new Map<IsWaiting, Entry>();

  /** Opens the socket of a connection. Each attempt of a connection uses the next host of the URL. */
  open(
    { host: hosts, port: ports, path }: Target,
    { isWaiting, limitMs }: { isWaiting: IsWaiting; limitMs: number },
  ): Socket {
    const index = this.#entries.get(isWaiting)?.next ?? 0;
    const host = hosts[index] ?? '';
    const port = ports[index] ?? 0;
    const keepalive = { keepAlive: true, keepAliveInitialDelay: KEEPALIVE_MS };
    const socket = path ? dial(path) : dial({ host, port, noDelay: true, ...keepalive });
    // The driver verifies the name in the server's certificate with it.
    Object.assign(socket, { host, port });
    const next = (index + 1) % hosts.length;
    this.#entries.set(isWaiting, { socket, next, limitMs, bytesRead: 0, silentMs: 0 });
    return socket;
  }

  /** Closes the sockets whose statement has waited for too long without a byte. Returns how many. */
  tick(passedMs: number): number {
    let closed = 0;
    for (const [isWaiting, entry] of this.#entries) {
      const { bytesRead } = entry.socket;
      const isSilent = isWaiting() && bytesRead === entry.bytesRead;
      entry.silentMs = isSilent ? entry.silentMs + passedMs : 0;
      entry.bytesRead = bytesRead;
      if (entry.silentMs < entry.limitMs) continue;
      closed += close(entry.socket, 'the database did not reply to a statement in time');
    }
    return closed;
  }

  /** Counts the open sockets, and those of them whose statement has no complete reply yet. */
  count(): { open: number; busy: number } {
    const open = [...this.#entries].filter(([, { socket }]) => socket.readyState === 'open');
    return { open: open.length, busy: open.filter(([isWaiting]) => isWaiting()).length };
  }

  /** Returns the sockets whose statement has waited for this long without a byte, by their local port. */
  waiting(sinceMs: number): Map<number, Socket> {
    const silent = [...this.#entries.values()].filter(({ silentMs }) => silentMs >= sinceMs);
    return new Map(silent.map(({ socket }) => [socket.localPort ?? 0, socket]));
  }

  /** Returns a function that closes the sockets on which nothing has arrived since this call. */
  mark(): () => number {
    const before = [...this.#entries.values()].map(({ socket }) => ({
      socket,
      bytesRead: socket.bytesRead,
    }));
    return () => {
      let closed = 0;
      for (const { socket, bytesRead } of before)
        if (socket.bytesRead === bytesRead) closed += close(socket, 'the database does not reply');
      return closed;
    };
  }
}

export function close(socket: Socket, why: string): number {
  if (socket.destroyed) return 0;
  socket.destroy(new NoReply(why));
  return 1;
}

import { connect } from 'node:net';

/** What came back on one connection, and how it ended. */
export type RawReply = {
  text: string;
  statuses: number[];
  /** The server hung up; otherwise the client did, having waited long enough. */
  closed: boolean;
};

/** How long a connection may stay silent before it counts as one that the server keeps open. */
const SILENCE_MS = 1_500;

/**
 * Writes bytes as they are, piece by piece, and reads until the server closes the connection, is
 * silent, or has sent the expected number of replies.
 */
export function sendRaw(
  port: number,
  pieces: (string | Buffer)[],
  { replies = 1, halfClose = false } = {},
): Promise<RawReply> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    let text = '';
    const finish = (closed: boolean) => {
      socket.destroy();
      resolve({ text, statuses: statusesIn(text), closed });
    };
    socket.setTimeout(SILENCE_MS, () => finish(false));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (isComplete(text, replies)) finish(false);
    });
    socket.on('end', () => finish(true));
    // The server may close the connection while the client still writes. That counts as a reply.
    socket.on('error', () => finish(true));
    socket.on('connect', () => {
      for (const piece of pieces) socket.write(piece);
      if (halfClose) socket.end();
    });
  });
}

const HEAD = /HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n/g;

function statusesIn(text: string): number[] {
  return [...text.matchAll(HEAD)].map(([, status]) => Number(status));
}

/** Returns whether every reply has begun and the last one has its announced length. */
function isComplete(text: string, replies: number): boolean {
  if (statusesIn(text).length < replies) return false;
  const last = text.slice(text.lastIndexOf('HTTP/1.1 '));
  const end = last.indexOf('\r\n\r\n');
  const length = Number(/content-length: (\d+)/i.exec(last)?.[1] ?? Number.NaN);
  return end >= 0 && last.length - end - 4 >= length;
}

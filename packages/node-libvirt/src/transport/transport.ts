/** Opens a byte stream to libvirt's daemon: a Unix socket, or TLS with client certificates. */
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ProtocolError } from '../errors.ts';

const TLS_PORT = 16_514;
/** The byte that the daemon sends after it has accepted the client's certificate. */
const ACCEPTED = 1;

export type Address =
  | { socketPath: string }
  | {
      host: string;
      /** The default is 16514. */
      port?: number | undefined;
      tls: { ca: string; cert: string; key: string; servername?: string | undefined };
    };

/** Throws the system's error if no daemon listens. The signal closes the stream in any state. */
export async function openSocket(address: Address, signal?: AbortSignal): Promise<Socket> {
  signal?.throwIfAborted();
  const socket =
    'socketPath' in address
      ? createConnection({ path: address.socketPath })
      : connectTls({ host: address.host, port: address.port ?? TLS_PORT, ...address.tls });
  const abort = () => socket.destroy(signal?.reason);
  signal?.addEventListener('abort', abort);
  socket.once('close', () => signal?.removeEventListener('abort', abort));
  try {
    if ('socketPath' in address) await once(socket, 'connect');
    else await awaitAcceptance(socket);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The daemon checks the client's certificate after the handshake and closes if it refuses it. */
async function awaitAcceptance(socket: Socket): Promise<void> {
  await once(socket, 'secureConnect');
  const byte = await readByte(socket);
  if (byte !== ACCEPTED) throw new ProtocolError("libvirt refused the client's certificate");
}

/** Returns undefined if the peer closed the connection. */
function readByte(socket: Socket): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const settle = (outcome: () => void) => {
      socket.off('readable', readable).off('close', closed).off('error', failed);
      outcome();
    };
    const readable = () => {
      const bytes: Buffer | null = socket.read(1);
      if (bytes) settle(() => resolve(bytes[0]));
    };
    const closed = () => settle(() => resolve(undefined));
    const failed = (error: Error) => settle(() => reject(error));
    socket.on('readable', readable).on('close', closed).on('error', failed);
  });
}

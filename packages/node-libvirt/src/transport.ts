/** The byte streams libvirt's daemon listens on: its Unix socket, or TLS with certificates on both ends. */
import { once } from 'node:events';
import { createConnection, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { ProtocolError } from './errors.ts';

const TLS_PORT = 16_514;
/** What the daemon sends once it has accepted the client's certificate. */
const ACCEPTED = 1;

export type Address =
  | { socketPath: string }
  | {
      host: string;
      /** 16514 unless given. */
      port?: number | undefined;
      tls: { ca: string; cert: string; key: string; servername?: string | undefined };
    };

/** Fails with the system's own error where nobody listens. The signal ends it in whatever state it is. */
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

/** The daemon checks our certificate after the handshake, and closes without a word if it is refused. */
async function awaitAcceptance(socket: Socket): Promise<void> {
  await once(socket, 'secureConnect');
  const byte = await readByte(socket);
  if (byte !== ACCEPTED) throw new ProtocolError("libvirt refused the client's certificate");
}

/** Undefined where the peer closed instead. */
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

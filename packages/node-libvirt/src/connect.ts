import { Connection, type ConnectionLimits } from './connection.ts';
import { ProtocolError } from './errors.ts';
import { AUTH_TYPE } from './generated/constants.ts';
import { authList, connectOpen, connectSupportsFeature } from './generated/procedures.ts';
import type { KeepaliveOptions } from './transport/keepalive.ts';
import { type Address, openSocket } from './transport/transport.ts';

/** VIR_DRV_FEATURE_PROGRAM_KEEPALIVE. With it the daemon also pings the client. */
const FEATURE_KEEPALIVE = 10;

export type DriverOptions = Address &
  ConnectionLimits & {
    /** The driver to open. The default is qemu:///system. */
    uri?: string | undefined;
    keepalive?: KeepaliveOptions | undefined;
  };

export type ConnectOptions = DriverOptions & {
  /** Closes the connection at once, in any state. */
  signal?: AbortSignal | undefined;
};

/**
 * Connects and opens the driver. Throws the system's error if no daemon listens on the socket.
 * Keepalive is off by default.
 */
export async function connect(options: ConnectOptions): Promise<Connection> {
  const { uri = 'qemu:///system', signal, keepalive } = options;
  const socket = await openSocket(options, signal);
  const connection = new Connection(socket, options);
  try {
    await authenticate(connection);
    await connection.call(connectOpen, { name: uri, flags: 0 });
    if (keepalive) {
      await connection.call(connectSupportsFeature, { feature: FEATURE_KEEPALIVE });
      connection.startKeepalive(keepalive);
    }
    return connection;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

async function authenticate(connection: Connection): Promise<void> {
  const { types } = await connection.call(authList);
  if (types.length > 0 && !types.includes(AUTH_TYPE.none)) {
    throw new ProtocolError(`libvirt wants authentication (${types.join(', ')}); connect as root`);
  }
}

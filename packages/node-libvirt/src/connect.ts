import { Connection, type ConnectionLimits } from './connection.ts';
import { ProtocolError } from './errors.ts';
import { AUTH_TYPE } from './generated/constants.ts';
import { authList, connectOpen, connectSupportsFeature } from './generated/procedures.ts';
import type { KeepaliveOptions } from './keepalive.ts';
import { type Address, openSocket } from './transport.ts';

/** VIR_DRV_FEATURE_PROGRAM_KEEPALIVE: asking for it makes the daemon ping us as well. */
const FEATURE_KEEPALIVE = 10;

export type DriverOptions = Address &
  ConnectionLimits & {
    /** The driver to open. Default: the system's QEMU. */
    uri?: string | undefined;
    keepalive?: KeepaliveOptions | undefined;
  };

export type ConnectOptions = DriverOptions & {
  /** Ends the connection at once, in whatever state it is. */
  signal?: AbortSignal | undefined;
};

/**
 * Connects and opens the driver. A socket nobody listens on fails with the system's own error.
 * There is no keepalive unless options ask for it.
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

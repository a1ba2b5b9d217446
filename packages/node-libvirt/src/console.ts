import type { CallOptions } from './calls.ts';
import type { Connection } from './connection.ts';
import { domainOpenConsole } from './generated/procedures.ts';
import type { Domain } from './generated/types.ts';
import type { LibvirtStream } from './stream.ts';

/** VIR_DOMAIN_CONSOLE_FORCE */
const FORCE = 1;

export type OpenConsoleOptions = CallOptions & {
  /** The device's alias. The default is the first console or serial port. */
  device?: string | undefined;
  /** Disconnects a client that already has the console open. */
  force?: boolean | undefined;
};

/**
 * Opens the domain's console as a duplex stream, until either end closes it. A stream that is not
 * read blocks its whole connection, so give each console a connection of its own.
 */
export async function openConsole(
  connection: Connection,
  domain: Domain,
  options: OpenConsoleOptions = {},
): Promise<LibvirtStream> {
  const args = { dom: domain, devName: options.device ?? null, flags: options.force ? FORCE : 0 };
  const directions = { readable: true, writable: true };
  return (await connection.openStream(domainOpenConsole, args, { ...options, ...directions }))
    .stream;
}

import type { CallOptions } from './calls.ts';
import type { Connection } from './connection.ts';
import { domainOpenChannel, domainOpenConsole } from './generated/procedures.ts';
import type { Domain } from './generated/types.ts';
import type { LibvirtStream } from './stream.ts';

/** virDomainConsoleFlags and virDomainChannelFlags agree on it. */
const FORCE = 1;

export type OpenConsoleOptions = CallOptions & {
  /** The device's alias. Default: the first console or serial port, the first channel. */
  device?: string | undefined;
  /** Takes it away from whoever has it open. */
  force?: boolean | undefined;
};

/**
 * The domain's console, both ways, until either end closes it. A reader that stops reading stops
 * the whole connection, so give a console one of its own.
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

/** A channel of the domain, such as the one of an agent that libvirt does not speak to itself. */
export async function openChannel(
  connection: Connection,
  domain: Domain,
  options: OpenConsoleOptions = {},
): Promise<LibvirtStream> {
  const args = { dom: domain, name: options.device ?? null, flags: options.force ? FORCE : 0 };
  const directions = { readable: true, writable: true };
  return (await connection.openStream(domainOpenChannel, args, { ...options, ...directions }))
    .stream;
}

import type { Connection } from 'node-libvirt/connection';
import { isLibvirtError, LIBVIRT_ERROR } from 'node-libvirt/errors';
import {
  domainAgentSetResponseTimeout,
  domainFsfreeze,
  domainFsthaw,
} from 'node-libvirt/generated/procedures';
import { HostFailure } from '../base/failure.ts';
import { CHANGE_LIMIT } from './call-limits.ts';
import type { FoundDomain } from './domains/libvirt-domains.ts';

/** libvirt would wait for the guest agent for ever. Shorter than the limit of the call. */
const REPLY_S = 10;

/** Both return the number of file systems. */
export async function freezeFileSystems(
  connection: Connection,
  domain: FoundDomain,
): Promise<number> {
  return await askAgent(connection, domain, domainFsfreeze);
}

export async function thawFileSystems(
  connection: Connection,
  domain: FoundDomain,
): Promise<number> {
  return await askAgent(connection, domain, domainFsthaw);
}

async function askAgent(
  connection: Connection,
  { handle: dom }: FoundDomain,
  procedure: typeof domainFsfreeze | typeof domainFsthaw,
): Promise<number> {
  try {
    const limit = { dom, timeout: REPLY_S, flags: 0 };
    await connection.call(domainAgentSetResponseTimeout, limit, CHANGE_LIMIT);
    const args = { dom, mountpoints: [], flags: 0 };
    return (await connection.call(procedure, args, CHANGE_LIMIT)).filesystems;
  } catch (error) {
    if (isLibvirtError(error, ...WITHOUT_AGENT)) {
      const message =
        'the guest agent does not reply: install qemu-guest-agent in the guest and start it';
      throw new HostFailure('guest_agent_missing', message, { cause: error });
    }
    if (!isLibvirtError(error, LIBVIRT_ERROR.internal)) throw error;
    const message = `the guest agent refused: ${error.message}`;
    throw new HostFailure('freeze_failed', message, { cause: error });
  }
}

const WITHOUT_AGENT = [
  LIBVIRT_ERROR.agentUnresponsive,
  LIBVIRT_ERROR.agentUnsynced,
  LIBVIRT_ERROR.argumentUnsupported,
];

import type { Connection } from 'node-libvirt/connection';
import { SHUTDOWN } from 'node-libvirt/flags';
import { domainShutdownFlags } from 'node-libvirt/generated/procedures';
import { CHANGE_LIMIT } from './call-limits.ts';
import { findDomain } from './domains/libvirt-domains.ts';

/** Asks a running guest to shut down, and does not wait for it. */
export async function askShutdown(connection: Connection, vmId: string): Promise<void> {
  const domain = await findDomain(connection, vmId);
  if (domain?.state !== 'running') return;
  const ask = (flags: number) =>
    connection.call(domainShutdownFlags, { dom: domain.handle, flags }, CHANGE_LIMIT);
  try {
    await ask(SHUTDOWN.guestAgent);
  } catch {
    // Without a guest agent that replies, the power button is the only way.
    await ask(SHUTDOWN.acpiPowerButton);
  }
}

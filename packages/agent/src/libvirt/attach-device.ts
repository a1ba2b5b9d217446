import type { Connection } from 'node-libvirt/connection';
import { AFFECT } from 'node-libvirt/flags';
import { domainAttachDeviceFlags, domainGetSchedulerType } from 'node-libvirt/generated/procedures';
import { HostFailure } from '../base/failure.ts';
import type { DescribedDisks } from './domain-xml/describe-disks.ts';
import { renderDisk, renderFilesystem } from './domain-xml/render-disk.ts';
import type { FoundDomain } from './domains/libvirt-domains.ts';

const CALL_LIMIT = { timeoutMs: 15_000 };

/** Attaches a disk or a shared directory to a running domain. Its definition is not changed. */
export async function attachDevice(
  connection: Connection,
  domain: FoundDomain,
  { disks, filesystems }: DescribedDisks,
): Promise<void> {
  if (filesystems.length > 0) await requireCgroup(connection, domain);
  const xml = [...disks.map(renderDisk), ...filesystems.map(renderFilesystem)].join('');
  const args = { dom: domain.handle, xml, flags: AFFECT.live };
  await connection.call(domainAttachDeviceFlags, args, CALL_LIMIT);
}

/**
 * libvirt up to 9.0 crashes if a shared directory is attached to a running domain without a control
 * group. Only such a domain has no scheduler parameters.
 */
async function requireCgroup(connection: Connection, { handle, vmId }: FoundDomain) {
  try {
    await connection.call(domainGetSchedulerType, { dom: handle }, CALL_LIMIT);
  } catch (error) {
    const message = `VM ${vmId} cannot be given a shared volume while it runs: stop and start it`;
    throw new HostFailure('restart_needed', message, { cause: error });
  }
}

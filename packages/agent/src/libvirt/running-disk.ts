import type { Connection } from 'node-libvirt/connection';
import { AFFECT, BLOCK_RESIZE } from 'node-libvirt/flags';
import { domainBlockResize, domainSetBlockIoTune } from 'node-libvirt/generated/procedures';
import { TUNE_NAMES } from '../disk-limits.ts';
import type { DiskSpec } from '../spec.ts';
import { CHANGE_LIMIT } from './call-limits.ts';
import { targetOfSlot } from './domain-xml/render-disk.ts';
import type { FoundDomain } from './domains/libvirt-domains.ts';

/** VIR_TYPED_PARAM_ULLONG */
const UNSIGNED_LONG = 4 as const;

/** What can change about a disk that a running guest has. */

/** A shared directory has no size that guests would see. */
export async function growLocalDisk(
  connection: Connection,
  domain: FoundDomain,
  disk: DiskSpec,
): Promise<void> {
  const target = targetOf(domain, disk);
  if (target === null) return;
  const size = { size: BigInt(disk.sizeBytes), flags: BLOCK_RESIZE.bytes };
  const args = { dom: domain.handle, disk: target, ...size };
  await connection.call(domainBlockResize, args, CHANGE_LIMIT);
}

/** Every limit is set, because libvirt keeps those that are not named. */
export async function limitDisk(
  connection: Connection,
  domain: FoundDomain,
  { tune = {}, ...disk }: DiskSpec,
): Promise<void> {
  const target = targetOf(domain, disk);
  if (target === null) return;
  const params = TUNE_NAMES.map((field) => ({
    field,
    value: { type: UNSIGNED_LONG, value: BigInt(tune[field] ?? 0) },
  }));
  const args = { dom: domain.handle, disk: target, params, flags: AFFECT.live };
  await connection.call(domainSetBlockIoTune, args, CHANGE_LIMIT);
}

/** Returns the name of the device in the guest; null if the guest does not have it as a block device. */
export function targetOf({ facts }: FoundDomain, disk: Pick<DiskSpec, 'id'>): string | null {
  const slot = facts.disks.find(({ id }) => id === disk.id)?.slot ?? null;
  return slot === null ? null : targetOfSlot(slot);
}

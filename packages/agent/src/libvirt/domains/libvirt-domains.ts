import type { Connection } from 'node-libvirt/connection';
import { isLibvirtError, LIBVIRT_ERROR } from 'node-libvirt/errors';
import { AFFECT, DOMAIN_STATE, METADATA } from 'node-libvirt/flags';
import {
  connectListAllDomains,
  domainGetState,
  domainGetXmlDesc,
  domainIsPersistent,
  domainSetMetadata,
} from 'node-libvirt/generated/procedures';
import type { Domain as DomainHandle } from 'node-libvirt/generated/types';
import { HostFailure } from '../../base/failure.ts';
import type { DomainState } from '../../host-driver.ts';
import {
  DOMAIN_NAMESPACE,
  DOMAIN_NAMESPACE_PREFIX,
  type DomainMetadata,
  domainName,
} from '../domain-xml/domain-definition.ts';
import { type DomainFacts, readDomain } from '../domain-xml/read-domain.ts';
import { renderMetadata } from '../domain-xml/render-metadata.ts';

/** virDomainShutoffReason: the emulator ended without an order. */
const SHUTOFF_CRASHED = 3;
/** virDomainPausedReason: the emulator exists and libvirt is still busy with its start. */
const PAUSED_STARTING_UP = 11;
/** virDomainPausedReason: QEMU paused the guest because of an error of its storage. */
const PAUSED_IO_ERROR = 5;
/** libvirt replies from memory. A domain that it kills is locked for 40 s and more. */
const READ_LIMIT = { timeoutMs: 10_000 };

/** A domain as libvirt knows it: the live configuration if it runs, otherwise its definition. */
export type FoundDomain = {
  handle: DomainHandle;
  vmId: string;
  state: Exclude<DomainState, 'unknown'>;
  isPaused: boolean;
  /** QEMU has paused it, because it could not write to a disk. */
  isStoppedByStorage: boolean;
  facts: DomainFacts;
  /** It runs without a definition, and nothing remains after it ends. */
  isTransient: boolean;
};

/** Returns the ids of all domains. libvirt waits for each domain that is locked. */
export async function listDomainIds(connection: Connection): Promise<string[]> {
  const args = { needResults: 1, flags: 0 };
  const { domains } = await connection.call(connectListAllDomains, args, READ_LIMIT);
  return domains.map(({ uuid }) => idOfUuid(uuid));
}

/**
 * Returns null if there is no such domain, or no longer. One call after another, so that a domain that
 * does not reply occupies one of libvirt's workers only. The state is read after the disks: a domain that
 * is started meanwhile counts as running.
 */
export async function findDomain(
  connection: Connection,
  vmId: string,
): Promise<FoundDomain | null> {
  const uuid = Buffer.from(vmId.replaceAll('-', ''), 'hex');
  const handle = { name: domainName(vmId), uuid, id: -1 };
  try {
    const { xml } = await connection.call(domainGetXmlDesc, { dom: handle, flags: 0 }, READ_LIMIT);
    const { persistent } = await connection.call(domainIsPersistent, { dom: handle }, READ_LIMIT);
    const found = await readState(connection, handle);
    const facts = readDomain(xml);
    return { ...found, handle, vmId: facts.uuid, facts, isTransient: persistent === 0 };
  } catch (error) {
    if (isLibvirtError(error, LIBVIRT_ERROR.noDomain)) return null;
    throw error;
  }
}

export async function readState(
  connection: Connection,
  handle: DomainHandle,
  limit: { timeoutMs?: number; signal?: AbortSignal } = READ_LIMIT,
): Promise<Pick<FoundDomain, 'state' | 'isPaused' | 'isStoppedByStorage'>> {
  const args = { dom: handle, flags: 0 };
  const { state, reason } = await connection.call(domainGetState, args, limit);
  const isPaused = state === DOMAIN_STATE.paused && reason !== PAUSED_STARTING_UP;
  const isStoppedByStorage = isPaused && reason === PAUSED_IO_ERROR;
  return { state: stateOf(state, reason), isPaused, isStoppedByStorage };
}

/** A guest that is paused or about to end still has all its resources. */
function stateOf(state: number, reason: number): FoundDomain['state'] {
  if (state === DOMAIN_STATE.crashed) return 'crashed';
  if (state === DOMAIN_STATE.paused && reason === PAUSED_STARTING_UP) return 'starting';
  if (state !== DOMAIN_STATE.shutoff) return 'running';
  return reason === SHUTOFF_CRASHED ? 'crashed' : 'shutoff';
}

export function hasDisk({ facts }: FoundDomain, diskId: string): boolean {
  return [...facts.disks, ...facts.filesystems].some(({ id }) => id === diskId);
}

export function idOfUuid(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

export async function keepMetadata(
  connection: Connection,
  domain: Pick<FoundDomain, 'handle'>,
  { metadata, flags }: { metadata: DomainMetadata; flags: number },
): Promise<void> {
  await connection.call(
    domainSetMetadata,
    {
      dom: domain.handle,
      type: METADATA.element,
      metadata: renderMetadata(metadata),
      key: DOMAIN_NAMESPACE_PREFIX,
      uri: DOMAIN_NAMESPACE,
      flags,
    },
    READ_LIMIT,
  );
}

export async function requireDomain(connection: Connection, vmId: string): Promise<FoundDomain> {
  const domain = await findDomain(connection, vmId);
  if (!domain) throw new HostFailure('host_failed', `there is no domain ${vmId}`);
  return domain;
}

export async function requireRunning(connection: Connection, vmId: string): Promise<FoundDomain> {
  const domain = await requireDomain(connection, vmId);
  if (domain.state !== 'running') {
    throw new HostFailure('host_failed', `domain ${vmId} does not run`);
  }
  return domain;
}

/** Written after a start, so that a failed start is not taken for a guest that died. */
export async function keepGeneration(
  connection: Connection,
  domain: FoundDomain,
  generation: string,
): Promise<void> {
  if (!domain.facts.metadata) return;
  const metadata = { ...domain.facts.metadata, generation };
  await keepMetadata(connection, domain, { metadata, flags: AFFECT.live });
  // A domain that was undefined while it ran has only its live metadata.
  const kept = keepMetadata(connection, domain, { metadata, flags: AFFECT.config });
  await unless(LIBVIRT_ERROR.operationInvalid, kept);
}

/** Ignores the error of a call whose work was already done by another program. */
export async function unless(code: number, call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isLibvirtError(error, code)) throw error;
  }
}

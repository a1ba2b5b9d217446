import type { Connection } from 'node-libvirt/connection';
import { isLibvirtError, LIBVIRT_ERROR } from 'node-libvirt/errors';
import { DOMAIN_STATE, METADATA } from 'node-libvirt/flags';
import {
  connectListAllDomains,
  domainGetState,
  domainGetXmlDesc,
  domainSetMetadata,
} from 'node-libvirt/generated/procedures';
import type { Domain as DomainHandle } from 'node-libvirt/generated/types';
import type { DomainState } from '../machine.ts';
import {
  DOMAIN_NAMESPACE,
  DOMAIN_NAMESPACE_PREFIX,
  type DomainMetadata,
  domainName,
} from './domain-definition.ts';
import { type DomainFacts, readDomain } from './read-domain.ts';
import { renderMetadata } from './render-metadata.ts';

/** virDomainShutoffReason: the emulator went away without being told to. */
const SHUTOFF_CRASHED = 3;
/** virDomainPausedReason: the emulator is there, and libvirt still busy with it. */
const PAUSED_STARTING_UP = 11;
const LIST_LIMIT = { timeoutMs: 10_000 };

/** A domain as libvirt has it: while it runs what it runs with, otherwise its definition. */
export type FoundDomain = {
  handle: DomainHandle;
  vmId: string;
  state: DomainState;
  facts: DomainFacts;
};

export async function findDomains(connection: Connection): Promise<FoundDomain[]> {
  const args = { needResults: 1, flags: 0 };
  const { domains } = await connection.call(connectListAllDomains, args, LIST_LIMIT);
  const found = await Promise.all(domains.map((handle) => readFound(connection, handle)));
  return found.filter((domain) => domain !== null);
}

export async function findDomain(
  connection: Connection,
  vmId: string,
): Promise<FoundDomain | null> {
  const uuid = Buffer.from(vmId.replaceAll('-', ''), 'hex');
  return await readFound(connection, { name: domainName(vmId), uuid, id: -1 });
}

/** Null: there is no such domain, or no longer. */
async function readFound(
  connection: Connection,
  handle: DomainHandle,
): Promise<FoundDomain | null> {
  try {
    const [{ xml }, { state, reason }] = await Promise.all([
      connection.call(domainGetXmlDesc, { dom: handle, flags: 0 }, LIST_LIMIT),
      connection.call(domainGetState, { dom: handle, flags: 0 }, LIST_LIMIT),
    ]);
    const facts = readDomain(xml);
    return { handle, vmId: facts.uuid, state: stateOf(state, reason), facts };
  } catch (error) {
    if (isLibvirtError(error, LIBVIRT_ERROR.noDomain)) return null;
    throw error;
  }
}

/** A guest that is paused, or about to end, still has all that is its own. */
function stateOf(state: number, reason: number): DomainState {
  if (state === DOMAIN_STATE.crashed) return 'crashed';
  if (state === DOMAIN_STATE.paused && reason === PAUSED_STARTING_UP) return 'shutoff';
  if (state !== DOMAIN_STATE.shutoff) return 'running';
  return reason === SHUTOFF_CRASHED ? 'crashed' : 'shutoff';
}

/** Kept in the definition, and in the running domain where there is one. */
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
    LIST_LIMIT,
  );
}

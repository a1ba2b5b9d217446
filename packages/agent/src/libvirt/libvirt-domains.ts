import type { Connection } from 'node-libvirt/connection';
import { isLibvirtError, LIBVIRT_ERROR } from 'node-libvirt/errors';
import { DOMAIN_STATE, LIST_DOMAINS, METADATA } from 'node-libvirt/flags';
import {
  connectListAllDomains,
  domainGetState,
  domainGetXmlDesc,
  domainSetMetadata,
} from 'node-libvirt/generated/procedures';
import type { Domain as DomainHandle } from 'node-libvirt/generated/types';
import type { DomainState } from '../host-driver.ts';
import {
  DOMAIN_NAMESPACE,
  DOMAIN_NAMESPACE_PREFIX,
  type DomainMetadata,
  domainName,
} from './domain-xml/domain-definition.ts';
import { type DomainFacts, readDomain } from './domain-xml/read-domain.ts';
import { renderMetadata } from './domain-xml/render-metadata.ts';

/** virDomainShutoffReason: the emulator ended without an order. */
const SHUTOFF_CRASHED = 3;
/** virDomainPausedReason: the emulator exists and libvirt is still busy with it. */
const PAUSED_STARTING_UP = 11;
const LIST_LIMIT = { timeoutMs: 10_000 };

/** A domain as libvirt knows it: the live configuration if it runs, otherwise its definition. */
export type FoundDomain = {
  handle: DomainHandle;
  vmId: string;
  state: DomainState;
  isPaused: boolean;
  facts: DomainFacts;
};

/** `isTransient`: it runs without a definition, and nothing remains after it ends. */
export type ListedDomain = FoundDomain & { isTransient: boolean };

export async function findDomains(connection: Connection): Promise<ListedDomain[]> {
  const list = async (flags: number) => {
    const args = { needResults: 1, flags };
    return (await connection.call(connectListAllDomains, args, LIST_LIMIT)).domains;
  };
  const [all, transient] = await Promise.all([list(0), list(LIST_DOMAINS.transient)]);
  const found = await Promise.all(all.map((handle) => readFound(connection, handle)));
  return found.flatMap((domain) => {
    if (domain === null) return [];
    const isTransient = transient.some(({ uuid }) => uuid.equals(domain.handle.uuid));
    return [{ ...domain, isTransient }];
  });
}

export async function findDomain(
  connection: Connection,
  vmId: string,
): Promise<FoundDomain | null> {
  const uuid = Buffer.from(vmId.replaceAll('-', ''), 'hex');
  return await readFound(connection, { name: domainName(vmId), uuid, id: -1 });
}

/** Returns null if there is no such domain, or no longer. */
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
    const isPaused = state === DOMAIN_STATE.paused && reason !== PAUSED_STARTING_UP;
    return { handle, vmId: facts.uuid, state: stateOf(state, reason), isPaused, facts };
  } catch (error) {
    if (isLibvirtError(error, LIBVIRT_ERROR.noDomain)) return null;
    throw error;
  }
}

/** A guest that is paused or about to end still has all its resources. */
function stateOf(state: number, reason: number): DomainState {
  if (state === DOMAIN_STATE.crashed) return 'crashed';
  if (state === DOMAIN_STATE.paused && reason === PAUSED_STARTING_UP) return 'shutoff';
  if (state !== DOMAIN_STATE.shutoff) return 'running';
  return reason === SHUTOFF_CRASHED ? 'crashed' : 'shutoff';
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
    LIST_LIMIT,
  );
}

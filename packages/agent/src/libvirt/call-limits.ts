import type { DomainFacts } from './domain-xml/read-domain.ts';

/**
 * How long a call to libvirt may take, depending on its work. After this time the daemon hangs, and the
 * call fails. The figures are far above what healthy hosts need, because a start that is given up too early
 * can never succeed.
 */
type Limit = { timeoutMs: number };
type Work = Pick<DomainFacts, 'memoryKib' | 'hostdevs'>;

const KIB_PER_GIB = 1_024 * 1_024;
const BASE_MS = { start: 120_000, end: 60_000 };
/**
 * Memory is allocated, cleared and locked at a start: 1 to 3 GiB per second on one thread without large
 * pages. At the end it is given back, which is faster.
 */
const PER_GIB_MS = { start: 2_000, end: 100 };
/**
 * At a start a card is reset and its memory is mapped. The deadlines of operations grow by the same time
 * for each card. At the end libvirt itself waits 2 s longer for each function of a card.
 */
const PER_CARD_START_MS = 15_000;
const PER_FUNCTION_END_MS = 5_000;

/** Longer than each such call has ever needed on a busy host, whatever the domain has. */
export const CHANGE_LIMIT: Limit = { timeoutMs: 15_000 };

export function startLimit({ memoryKib, hostdevs }: Work): Limit {
  const cards = new Set(hostdevs.map((address) => address.replace(/\.\w$/, ''))).size;
  return limitOf('start', memoryKib, cards * PER_CARD_START_MS);
}

/** libvirt gives a process 15 s to end by itself, and then kills it. */
export function endLimit({ memoryKib, hostdevs }: Work): Limit {
  return limitOf('end', memoryKib, hostdevs.length * PER_FUNCTION_END_MS);
}

function limitOf(call: 'start' | 'end', memoryKib: number, devicesMs: number): Limit {
  const memoryMs = Math.ceil((memoryKib / KIB_PER_GIB) * PER_GIB_MS[call]);
  return { timeoutMs: BASE_MS[call] + memoryMs + devicesMs };
}

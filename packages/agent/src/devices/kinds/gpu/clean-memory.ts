import { PROPERTY_STATES, type ReceiptProperty } from '@gantry/model/receipt-property';
import type { CleaningOutcome } from '../../../host-driver.ts';
import { PCI_DEVICES, readPciDevice } from '../../pci/pci-device.ts';
import { responds } from '../../pci/reset-card.ts';
import type { AssigningHost, ReturnedDevice } from '../kind-driver.ts';

/** A program of the operator that clears the memory of a card and checks it. */
export type GpuCleaner = {
  command: string;
  timeoutMs: number;
  /** Models that are quarantined without a successful run, such as 10de:20b5; or all of them. */
  requiredFor: readonly string[] | 'all';
};

/** Modes that a tenant can change on some cards, and that only the vendor's tools can read. */
const MODES = ['ecc_mode', 'mig_mode', 'confidential_computing_mode'];
const NVIDIA = '10de';
/** How much of the program's output is kept. */
const MAX_PROPERTIES = 16;
const MAX_DETAIL_LENGTH = 200;
/** A line of the program's output: the name of a property, its state, and perhaps a detail. */
const LINE = /^([a-z][a-z0-9_]{0,39}) (verified|not_verified|not_applicable)(?: (.*))?$/;
/** After this, the program could not be ended. */
const END_LIMIT_MS = 30_000;

/**
 * Runs the operator's program for a card that was reset and is still with VFIO, and adds what it
 * verified to the outcome. It succeeds if it exits with status 0 and reports "memory verified". Without
 * a program the memory is not verified, because nothing overwrote or read it.
 *
 * If the agent dies meanwhile, the card is reset and the program is run again.
 */
export async function cleanMemory(
  host: AssigningHost,
  { address, functions }: Pick<ReturnedDevice, 'address' | 'functions'>,
  { cleaner, outcome }: { cleaner: GpuCleaner | undefined; outcome: CleaningOutcome },
): Promise<CleaningOutcome> {
  const { vendorId, deviceId } = await readPciDevice(host.sysfs, address);
  const model = `${vendorId}:${deviceId}`;
  const unread = unreadProperties(vendorId);
  if (!cleaner) return withProperties(outcome, unread);
  const reported = await runCleaner(host, { cleaner, address, functions, model });
  const memory = reported.find(({ name }) => name === 'memory');
  const all = withProperties(outcome, [...unread, ...reported]);
  if (!(await responds(host, address))) {
    const message = `${address} does not respond after the cleaner ran`;
    return { ...all, failure: { code: 'device_lost', message } };
  }
  const isRequired = cleaner.requiredFor === 'all' || cleaner.requiredFor.includes(model);
  if (memory?.state === 'verified' || !isRequired) return all;
  const message = `the memory of ${address} (${model}) was not cleaned: ${memory?.detail}`;
  return { ...all, failure: { code: 'memory_not_cleaned', message } };
}

async function runCleaner(
  host: AssigningHost,
  card: {
    cleaner: GpuCleaner;
    address: string;
    functions: ReturnedDevice['functions'];
    model: string;
  },
): Promise<ReceiptProperty[]> {
  const { command, timeoutMs } = card.cleaner;
  const env = {
    GANTRY_PCI_ADDRESS: card.address,
    GANTRY_PCI_FUNCTIONS: card.functions.map(({ address }) => address).join(' '),
    GANTRY_PCI_DIRECTORY: host.sysfs.path(`${PCI_DEVICES}/${card.address}`),
    GANTRY_GPU_MODEL: card.model,
  };
  try {
    // timeout(1) also ends the processes that the program started.
    const args = ['--signal=KILL', String(timeoutMs / 1_000), command];
    const options = { env, timeoutMs: timeoutMs + END_LIMIT_MS };
    const reported = parseReport(await host.control.run('timeout', args, options));
    if (reported.some(({ name }) => name === 'memory')) return reported;
    return [...reported, notVerified('memory', 'the cleaner reported nothing about the memory')];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const detail = `the cleaner failed or took longer than ${timeoutMs / 1_000} s: ${reason}`;
    return [notVerified('memory', detail.slice(0, MAX_DETAIL_LENGTH))];
  }
}

/** Lines of another form are messages of the program and prove nothing. */
function parseReport(output: string): ReceiptProperty[] {
  return output
    .split('\n')
    .flatMap((line) => {
      const [, name = '', text, detail = ''] = LINE.exec(line.trim()) ?? [];
      const state = PROPERTY_STATES.find((known) => known === text);
      return state ? [{ name, state, detail: detail.slice(0, MAX_DETAIL_LENGTH) }] : [];
    })
    .slice(0, MAX_PROPERTIES);
}

function unreadProperties(vendorId: string): ReceiptProperty[] {
  const mode = (name: string): ReceiptProperty =>
    vendorId === NVIDIA
      ? notVerified(name, 'only tools of the vendor can read it')
      : { name, state: 'not_applicable', detail: '' };
  const memory = notVerified('memory', 'nothing overwrote or read it');
  return [...MODES.map(mode), memory];
}

/** The last one of a name counts. */
function withProperties(
  outcome: CleaningOutcome,
  properties: readonly ReceiptProperty[],
): CleaningOutcome {
  const all = [...(outcome.properties ?? []), ...properties];
  const byName = new Map(all.map((property) => [property.name, property]));
  return { ...outcome, properties: [...byName.values()] };
}

function notVerified(name: string, detail: string): ReceiptProperty {
  return { name, state: 'not_verified', detail };
}

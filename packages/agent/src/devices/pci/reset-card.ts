import type { ReceiptProperty } from '@gantry/model/receipt-property';
import { HostFailure } from '../../base/failure.ts';
import type { Sysfs } from '../../base/sysfs.ts';
import { untilTrue } from '../../base/until-true.ts';
import type { CleaningOutcome } from '../../host-driver.ts';
import { isStuck } from './kernel-writes.ts';
import { bridgesAbove, PCI_ADDRESS } from './pci-bridges.ts';
import type { PciControl, PciHost } from './pci-control.ts';
import { PCI_DEVICES, readPciDevice } from './pci-device.ts';
import type { PciFunction } from './pci-function.ts';

/** The kernel waits up to a minute for a device after a reset. */
const RESET_TIMEOUT_MS = 90_000;
const RETURN_TIMEOUT_MS = 10_000;
/** Offset in a bridge's config space of the word with the bit that resets everything below it. */
const BRIDGE_CONTROL = 0x3e;
const SECONDARY_BUS_RESET = 0x40;
/** The PCI specification requires 1 ms of reset and then 100 ms before the first access. */
const RESET_HOLD_MS = 10;
const RESET_REST_MS = 200;

/**
 * Resets a card with its best method, and verifies that it responds and reports no new error. A reset
 * does not overwrite the memory of a card, so it proves nothing about it.
 */
export async function resetCard(
  host: PciHost,
  functions: readonly PciFunction[],
): Promise<CleaningOutcome> {
  const [main] = functions;
  if (!main) throw new HostFailure('device_missing', 'a card without functions');
  const errorsBefore = await countErrors(host.sysfs, main.address);
  let method: string;
  try {
    method = await reset(host, functions);
  } catch (error) {
    if (isStuck(error)) throw error;
    const message = error instanceof Error ? error.message : String(error);
    return { method: 'none', failure: { code: 'reset_failed', message } };
  }
  for (const { address } of functions) {
    if (!(await responds(host, address))) {
      const message = `${address} does not answer after its reset: its config space is gone`;
      return { method, failure: { code: 'device_lost', message } };
    }
  }
  const errors = await countErrors(host.sysfs, main.address);
  if ((errors ?? 0) > (errorsBefore ?? 0)) {
    const message = `${main.address} reported PCIe errors during its reset`;
    return { method, failure: { code: 'reset_failed', message } };
  }
  const properties: ReceiptProperty[] = [
    { name: 'reset', state: 'verified', detail: method },
    { name: 'identity', state: 'verified', detail: 'every function returns its own ids' },
    errors === null
      ? { name: 'error_counters', state: 'not_applicable', detail: 'it counts no PCIe errors' }
      : { name: 'error_counters', state: 'verified', detail: 'no new uncorrected PCIe error' },
  ];
  return { method, failure: null, properties };
}

/** Whether the device itself returns its ids, rather than the kernel's copy of them. */
export async function responds({ sysfs, control }: PciHost, address: string): Promise<boolean> {
  const device = `${PCI_DEVICES}/${address}`;
  const config = await control.readConfig(address).catch(() => Buffer.alloc(0));
  if (config.length < 4) return false;
  const id = async (name: string) =>
    Number.parseInt((await sysfs.text(`${device}/${name}`)) ?? '', 16);
  return (
    config.readUInt16LE(0) === (await id('vendor')) &&
    config.readUInt16LE(2) === (await id('device'))
  );
}

/**
 * Tries one method after the other in the kernel's order, so that the receipt names the one that
 * worked. A card of several functions that has no reset of its own is reset with its bus if it is
 * alone there: the kernel does not do that by itself.
 */
async function reset(host: PciHost, functions: readonly PciFunction[]): Promise<string> {
  const [main, ...others] = functions;
  const address = main?.address ?? '';
  const refusals: string[] = [];
  for (const method of await methodsOf(host.sysfs, address)) {
    try {
      await resetBy(host, { address, method });
      for (const other of others) await resetAsItCan(host, other.address);
      return method;
    } catch (error) {
      if (isStuck(error)) throw error;
      refusals.push(error instanceof Error ? error.message : String(error));
    }
  }
  if (others.length > 0) {
    await resetBus(host, functions);
    return 'bus';
  }
  const message = refusals.length === 0 ? `${address} has no way to be reset` : refusals.join('; ');
  throw new HostFailure('reset_failed', message);
}

async function methodsOf(sysfs: Sysfs, address: string): Promise<string[]> {
  return (await readPciDevice(sysfs, address)).resetMethods;
}

async function resetBy(
  { control }: PciHost,
  { address, method }: { address: string; method: string },
): Promise<void> {
  const device = `${PCI_DEVICES}/${address}`;
  const write = (name: string, value: string) =>
    control.write({ path: `${device}/${name}`, value, address, timeoutMs: RESET_TIMEOUT_MS });
  await write('reset_method', method);
  try {
    await write('reset', '1');
  } finally {
    await write('reset_method', 'default');
  }
}

/** The audio function of a card often has no reset of its own: the reset of the card covers it. */
async function resetAsItCan(host: PciHost, address: string): Promise<void> {
  const [method] = (await methodsOf(host.sysfs, address)).filter((each) => each !== 'bus');
  if (method) await resetBy(host, { address, method });
}

/** Removes the card from the bus, resets everything below its bridge, and rescans the bus. */
async function resetBus(host: PciHost, functions: readonly PciFunction[]): Promise<void> {
  const { sysfs, control } = host;
  const addresses = functions.map(({ address }) => address);
  const [main = ''] = addresses;
  const bridge = await bridgeOf(sysfs, main);
  if (!bridge) throw new HostFailure('reset_failed', `${main} is below no bridge`);
  const below = await sysfs.list(`${PCI_DEVICES}/${bridge}`);
  const strangers = below.filter((name) => PCI_ADDRESS.test(name) && !addresses.includes(name));
  if (strangers.length > 0) {
    const message = `${main} cannot be reset without ${strangers.join(', ')} on the same bus`;
    throw new HostFailure('reset_failed', message);
  }
  for (const address of addresses) {
    await control.write({ path: `${PCI_DEVICES}/${address}/remove`, value: '1', address });
  }
  const before = (await control.readConfig(bridge)).readUInt16LE(BRIDGE_CONTROL);
  await writeBridgeControl(control, bridge, before | SECONDARY_BUS_RESET);
  await rest(RESET_HOLD_MS);
  await writeBridgeControl(control, bridge, before & ~SECONDARY_BUS_RESET);
  await rest(RESET_REST_MS);
  const rescan = { path: `${PCI_DEVICES}/${bridge}/rescan`, value: '1' };
  await control.write({ ...rescan, address: main, timeoutMs: RESET_TIMEOUT_MS });
  const isBack = async () => {
    const there = await sysfs.list(PCI_DEVICES);
    return addresses.every((address) => there.includes(address));
  };
  if (await untilTrue(isBack, RETURN_TIMEOUT_MS)) return;
  throw new HostFailure('device_lost', `${main} did not come back after its reset`);
}

/** Returns the bridge directly above a device. Undefined: none. */
export async function bridgeOf(sysfs: Sysfs, address: string): Promise<string | undefined> {
  return bridgesAbove((await sysfs.linkTarget(`${PCI_DEVICES}/${address}`)) ?? '').at(-1);
}

/** Rescans the bus for a card that is missing, for example after an interrupted reset. */
export async function findAgain(
  { control }: PciHost,
  { address, bridge }: { address: string; bridge: string | undefined },
): Promise<void> {
  if (bridge !== undefined) {
    const word = (await control.readConfig(bridge)).readUInt16LE(BRIDGE_CONTROL);
    if (word & SECONDARY_BUS_RESET) {
      await writeBridgeControl(control, bridge, word & ~SECONDARY_BUS_RESET);
      await rest(RESET_REST_MS);
    }
  }
  const rescan = { path: 'bus/pci/rescan', value: '1' };
  await control.write({ ...rescan, address, timeoutMs: RESET_TIMEOUT_MS });
}

async function writeBridgeControl(control: PciControl, bridge: string, word: number) {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(word);
  await control.writeConfig(bridge, { offset: BRIDGE_CONTROL, bytes });
}

const rest = (delayMs: number) => new Promise((resolve) => setTimeout(resolve, delayMs));

/** Counts the errors that lost data since the kernel found the device. Null: it counts none. */
async function countErrors(sysfs: Sysfs, address: string): Promise<number | null> {
  const { aer } = await readPciDevice(sysfs, address);
  return aer ? aer.nonfatal + aer.fatal : null;
}

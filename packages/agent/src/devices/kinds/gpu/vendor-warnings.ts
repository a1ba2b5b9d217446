import { HostFailure } from '../../../base/failure.ts';
import { childrenNamed, descend } from '../../../base/parse-xml.ts';
import { remembered } from '../../../base/remembered.ts';
import { programRunner, type RunProgram } from '../../../base/run-program.ts';
import type { XmlElement } from '../../../base/xml.ts';
import type { PciDevice } from '../../pci/pci-device.ts';
import {
  type GpuReadings,
  normalizeAddress,
  parseReadings,
  parseSmiOutput,
} from './vendor-readings.ts';

/** What the vendor's tool reports by PCI address. `warnings`: what is wrong, one sentence each. */
export type VendorReports = (gpus: readonly PciDevice[]) => Promise<Map<string, VendorReport>>;
type VendorReport = { warnings: string[]; readings: GpuReadings };

/** A run takes a second of CPU on a full server. */
const LOOK_AGAIN_MS = 600_000;
/** If a card hangs, the tool returns after minutes or never. */
const LIMIT_MS = 30_000;
const DRIVER = 'nvidia';

/** nvidia-smi sees only cards on NVIDIA's own driver, so it is not run without one. */
export function vendorReportsReader({
  run = programRunner('host_failed'),
  nowMs = Date.now,
}: {
  run?: RunProgram;
  nowMs?: () => number;
} = {}): VendorReports {
  const ask = remembered({ forMs: LOOK_AGAIN_MS, limitMs: LIMIT_MS, nowMs }, () => askTool(run));
  return async (gpus) => {
    if (!gpus.some(({ driver }) => driver === DRIVER)) return new Map();
    return (await ask('')) ?? new Map();
  };
}

async function askTool(run: RunProgram): Promise<Map<string, VendorReport>> {
  try {
    const xml = await run('nvidia-smi', ['-q', '-x'], { timeoutMs: LIMIT_MS });
    const readings = parseReadings(xml);
    return new Map(
      [...parseNvidiaSmi(xml)].map(([address, warnings]) => [
        address,
        { warnings, readings: readings.get(address) ?? {} },
      ]),
    );
  } catch (error) {
    // If a card is lost, the tool prints one line about it and nothing about the other cards.
    if (error instanceof HostFailure)
      return new Map(
        [...parseLostCards(error.message)].map(([address, warnings]) => [
          address,
          { warnings, readings: {} },
        ]),
      );
    throw error;
  }
}

/** Counters that are zero on a healthy card. */
const COUNTERS: { path: string[]; what: string }[] = [
  {
    path: ['ecc_errors', 'volatile', 'dram_uncorrectable'],
    what: 'memory errors since it started',
  },
  {
    path: ['ecc_errors', 'volatile', 'sram_uncorrectable_parity'],
    what: 'cache parity errors since it started',
  },
  {
    path: ['ecc_errors', 'volatile', 'sram_uncorrectable_secded'],
    what: 'cache errors since it started',
  },
  {
    path: ['ecc_errors', 'volatile', 'sram_uncorrectable'],
    what: 'cache errors since it started',
  },
];

/** Fields with the values that mean a problem. */
const STATES: { path: string[]; bad: RegExp; sentence: string }[] = [
  {
    path: ['remapped_rows', 'remapped_row_pending'],
    bad: /^yes$/i,
    sentence: 'rows of its memory wait to be remapped: reset it',
  },
  {
    path: ['remapped_rows', 'remapped_row_failure'],
    bad: /^yes$/i,
    sentence: 'rows of its memory could not be remapped: replace it',
  },
  {
    path: ['retired_pages', 'pending_retirement'],
    bad: /^yes$/i,
    sentence: 'pages of its memory wait to be retired: reset it',
  },
  {
    path: ['ecc_errors', 'unrepairable_memory'],
    bad: /^yes$/i,
    sentence: 'its memory cannot be repaired: replace it',
  },
  {
    path: ['ecc_errors', 'aggregate', 'sram_threshold_exceeded'],
    bad: /^yes$/i,
    sentence: 'its caches had more errors than its maker allows: replace it',
  },
  {
    path: ['gpu_recovery_action'],
    bad: /^(?!none$|n\/a$).+/i,
    sentence: 'its driver asks for a recovery',
  },
];

/** Older drivers write "throttle" and newer ones "event". */
const SLOWDOWNS: { name: string; sentence: string }[] = [
  { name: 'hw_thermal_slowdown', sentence: 'slowed down by its hardware: too hot' },
  { name: 'hw_power_brake_slowdown', sentence: 'slowed down by its hardware: too little power' },
  { name: 'hw_slowdown', sentence: 'slowed down by its hardware' },
];

/** Parses the output of `nvidia-smi -q -x`. */
export function parseNvidiaSmi(xml: string): Map<string, string[]> {
  return new Map(
    childrenNamed(parseSmiOutput(xml), 'gpu').map((gpu) => [
      normalizeAddress(gpu.attributes['id'] ?? ''),
      warningsOf(gpu),
    ]),
  );
}

function warningsOf(gpu: XmlElement): string[] {
  const value = (path: readonly string[]) => descend(gpu, ...path)?.text.trim() ?? '';
  const counters = COUNTERS.flatMap(({ path, what }) => {
    const count = Number(value(path));
    return Number.isInteger(count) && count > 0 ? `${count} uncorrectable ${what}` : [];
  });
  const states = STATES.flatMap(({ path, bad, sentence }) =>
    bad.test(value(path)) ? sentence : [],
  );
  const slowdown = SLOWDOWNS.find(({ name }) =>
    ['event', 'throttle'].some((word) => {
      const path = [`clocks_${word}_reasons`, `clocks_${word}_reason_${name}`];
      const old = [`clocks_${word}_reasons`, `clocks_${word}_reasons_${name}`];
      return [path, old].some((one) => value(one) === 'Active');
    }),
  );
  return [
    ...(hasError(gpu) ? ['some of its values cannot be read (ERR!)'] : []),
    ...counters,
    ...states,
    ...(slowdown ? [slowdown.sentence] : []),
  ];
}

/** How the tool writes a value that the card failed to return. */
function hasError({ text, children }: XmlElement): boolean {
  return /ERR!|GPU is lost/i.test(text) || children.some(hasError);
}

/** "Unable to determine the device handle for GPU0000:41:00.0: GPU is lost. Reboot …" */
function parseLostCards(said: string): Map<string, string[]> {
  const lines = said.matchAll(/GPU\s?([\da-f]{4,8}:[\da-f]{2}:[\da-f]{2}\.[0-7]): ([^.\n]+)/gi);
  return new Map(
    [...lines].map(([, address = '', reason = '']) => [
      normalizeAddress(address),
      [`its driver cannot reach it: ${reason.trim()}`],
    ]),
  );
}

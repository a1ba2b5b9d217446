import { childrenNamed, descend, parseXml } from '../../../base/parse-xml.ts';
import type { XmlElement } from '../../../base/xml.ts';

/**
 * Values of a GPU by their names in its health, as the vendor's tool reports them. Only the host of a GPU that
 * no VM has can read them.
 */
export type GpuReadings = Record<string, number>;

const READINGS: { name: string; path: string[] }[] = [
  { name: 'temperature_celsius', path: ['temperature', 'gpu_temp'] },
  { name: 'memory_temperature_celsius', path: ['temperature', 'memory_temp'] },
];
/** Since the driver was loaded. Generations of cards differ in which of them they have. */
const ECC_ERRORS: { name: string; counters: string[] }[] = [
  { name: 'ecc_corrected_errors', counters: ['sram_correctable', 'dram_correctable'] },
  {
    name: 'ecc_uncorrected_errors',
    counters: [
      'sram_uncorrectable',
      'sram_uncorrectable_parity',
      'sram_uncorrectable_secded',
      'dram_uncorrectable',
    ],
  },
];

/** The output names a document type that is not published. */
export const parseSmiOutput = (xml: string) => parseXml(xml.replace(/<!DOCTYPE[^>]*>/, ''));

/** Parses the output of `nvidia-smi -q -x`, by PCI address. */
export function parseReadings(xml: string): Map<string, GpuReadings> {
  return new Map(
    childrenNamed(parseSmiOutput(xml), 'gpu').map((gpu) => [
      normalizeAddress(gpu.attributes['id'] ?? ''),
      readingsOf(gpu),
    ]),
  );
}

/** A value that the card does not have is absent. */
function readingsOf(gpu: XmlElement): GpuReadings {
  const value = (...path: string[]) => {
    const [, digits] = /^(-?\d+)( C)?$/.exec(descend(gpu, ...path)?.text.trim() ?? '') ?? [];
    return digits === undefined ? undefined : Number(digits);
  };
  const direct = READINGS.map(({ name, path }) => [name, value(...path)] as const);
  const sums = ECC_ERRORS.map(({ name, counters }) => {
    const known = counters.map((counter) => value('ecc_errors', 'volatile', counter));
    return [name, known.some((one) => one !== undefined) ? sum(known) : undefined] as const;
  });
  return Object.fromEntries(
    [...direct, ...sums].flatMap(([name, found]) => (found === undefined ? [] : [[name, found]])),
  );
}

const sum = (values: (number | undefined)[]) =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0);

/**
 * 00000000:41:00.0, as the tool writes it, to 0000:41:00.0; a domain above ffff keeps its digits.
 */
export function normalizeAddress(id: string): string {
  const [domain = '', ...rest] = id.trim().toLowerCase().split(':');
  return [domain.replace(/^0+/, '').padStart(4, '0'), ...rest].join(':');
}

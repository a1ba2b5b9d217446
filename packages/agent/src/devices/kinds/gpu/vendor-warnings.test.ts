import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { HostFailure } from '../../../base/failure.ts';
import type { RunProgram } from '../../../base/run-program.ts';
import type { PciDevice } from '../../pci/pci-device.ts';
import { normalizeAddress, parseReadings } from './vendor-readings.ts';
import { parseNvidiaSmi, vendorReportsReader } from './vendor-warnings.ts';

/** Of a real H200 that is well. */
const H200 = readFileSync(join(import.meta.dirname, 'testing/nvidia-smi-h200.xml'), 'utf8');
const ADDRESS = '0000:00:06.0';

function edited(from: string, to: string): string {
  const xml = H200.replace(from, to);
  if (xml === H200) throw new Error(`the capture has no ${from}`);
  return xml;
}

it('a card that is well has no warnings', () => {
  expect([...parseNvidiaSmi(H200)]).toEqual([[ADDRESS, []]]);
});

it.each([
  [
    'dram_uncorrectable>0',
    'dram_uncorrectable>3',
    '3 uncorrectable memory errors since it started',
  ],
  [
    'sram_uncorrectable_parity>0',
    'sram_uncorrectable_parity>1',
    '1 uncorrectable cache parity errors since it started',
  ],
  [
    '<remapped_row_pending>No',
    '<remapped_row_pending>Yes',
    'rows of its memory wait to be remapped: reset it',
  ],
  [
    '<remapped_row_failure>No',
    '<remapped_row_failure>Yes',
    'rows of its memory could not be remapped: replace it',
  ],
  [
    '<pending_retirement>N/A',
    '<pending_retirement>Yes',
    'pages of its memory wait to be retired: reset it',
  ],
  [
    '<unrepairable_memory>No',
    '<unrepairable_memory>Yes',
    'its memory cannot be repaired: replace it',
  ],
  [
    '<sram_threshold_exceeded>No',
    '<sram_threshold_exceeded>Yes',
    'its caches had more errors than its maker allows: replace it',
  ],
  [
    '<gpu_recovery_action>None',
    '<gpu_recovery_action>Drain and Reset',
    'its driver asks for a recovery',
  ],
  ['hw_slowdown>Not Active', 'hw_slowdown>Active', 'slowed down by its hardware'],
  [
    'hw_thermal_slowdown>Not Active',
    'hw_thermal_slowdown>Active',
    'slowed down by its hardware: too hot',
  ],
  [
    'hw_power_brake_slowdown>Not Active',
    'hw_power_brake_slowdown>Active',
    'slowed down by its hardware: too little power',
  ],
  ['<vbios_version>', '<vbios_version>ERR!', 'some of its values cannot be read (ERR!)'],
])('%s turned to %s is a warning', (from, to, warning) => {
  expect(parseNvidiaSmi(edited(from, to)).get(ADDRESS)).toEqual([warning]);
});

it('the readings of a card are its temperatures and its ECC errors', () => {
  expect(
    parseReadings(edited('dram_uncorrectable>0', 'dram_uncorrectable>3')).get(ADDRESS),
  ).toEqual({
    ...{ temperature_celsius: 36, memory_temperature_celsius: 39 },
    ...{ ecc_corrected_errors: 0, ecc_uncorrected_errors: 3 },
  });
});

it('a reading that the card does not have is absent', () => {
  const readings = parseReadings(edited('<memory_temp>39 C', '<memory_temp>N/A')).get(ADDRESS);
  expect(readings).not.toHaveProperty('memory_temperature_celsius');
});

it('a slowdown is told in the words of older drivers too', () => {
  const old = H200.replaceAll('clocks_event_reason', 'clocks_throttle_reason').replace(
    'hw_slowdown>Not Active',
    'hw_slowdown>Active',
  );
  expect(parseNvidiaSmi(old).get(ADDRESS)).toEqual(['slowed down by its hardware']);
});

it.each([
  ['00000000:41:00.0', '0000:41:00.0'],
  ['0000:C1:00.0', '0000:c1:00.0'],
  ['00010000:E1:00.0', '10000:e1:00.0'],
])('%s is %s', (written, address) => {
  expect(normalizeAddress(written)).toBe(address);
});

/** Returns the warnings about a host with these cards, and how often the tool was started for them. */
async function asked(drivers: string[], run: RunProgram) {
  let times = 0;
  const counting: RunProgram = (...args) => {
    times += 1;
    return run(...args);
  };
  const read = vendorReportsReader({ run: counting, nowMs: () => 0 });
  const gpus = drivers.map((driver) => ({ driver }) as PciDevice);
  await read(gpus);
  const reports = [...(await read(gpus))];
  return { warnings: reports.map(([address, { warnings }]) => [address, warnings]), times };
}

it('the tool is started only for a card on its driver, and not at every look', async () => {
  const run = async () => H200;
  expect(await asked(['vfio-pci', ''], run)).toEqual({ warnings: [], times: 0 });
  expect(await asked(['vfio-pci', 'nvidia'], run)).toEqual({
    ...{ warnings: [[ADDRESS, []]], times: 1 },
  });
});

it('a lost card is told by the line that the tool ends with', async () => {
  const said =
    'nvidia-smi -q: Unable to determine the device handle for GPU0000:41:00.0: GPU is lost.  Reboot';
  const run = () => Promise.reject(new HostFailure('host_failed', said));
  expect((await asked(['nvidia'], run)).warnings).toEqual([
    ['0000:41:00.0', ['its driver cannot reach it: GPU is lost']],
  ]);
});

it.each([
  ['is not installed', () => Promise.reject(new Error('not installed'))],
  ['prints what is no XML', async () => 'NVIDIA-SMI has failed'],
])('a tool that %s says nothing', async (_, run) => {
  expect((await asked(['nvidia'], run)).warnings).toEqual([]);
});

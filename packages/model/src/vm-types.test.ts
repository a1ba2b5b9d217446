import { expect, it } from 'vitest';
import { CATALOGUE } from './vm-types.ts';

/** The catalogue of the contract, row by row: type, cores, GPUs, memory, drives, network. */
const CONTRACT = `
a40.1x | 6 | 1 x A40 48GB PCIe | 60 | 1 x 960GB NVMe | 25
a40.2x | 12 | 2 x A40 48GB PCIe | 120 | 2 x 960GB NVMe | 50
a40.4x | 24 | 4 x A40 48GB PCIe | 240 | 4 x 960GB NVMe | 100
a40.8x | 48 | 8 x A40 48GB PCIe | 480 | 8 x 960GB NVMe | 200
a100.1x | 12 | 1 x A100 40GB PCIe | 120 | 1 x 960GB NVMe | 25
a100.2x | 24 | 2 x A100 40GB PCIe | 240 | 2 x 960GB NVMe | 50
a100.4x | 48 | 4 x A100 40GB PCIe | 480 | 4 x 960GB NVMe | 100
a100.8x | 96 | 8 x A100 40GB PCIe | 960 | 8 x 960GB NVMe | 200
a100-80gb.1x | 12 | 1 x A100 80GB PCIe | 120 | 1 x 960GB NVMe | 25
a100-80gb.2x | 24 | 2 x A100 80GB PCIe | 240 | 2 x 960GB NVMe | 50
a100-80gb.4x | 48 | 4 x A100 80GB PCIe | 480 | 4 x 960GB NVMe | 100
a100-80gb.8x | 96 | 8 x A100 80GB PCIe | 960 | 8 x 960GB NVMe | 200
l40s-48gb.1x | 8 | 1 x L40S 48GB PCIe | 147 | none (N/A) | 20
l40s-48gb.2x | 16 | 2 x L40S 48GB PCIe | 294 | none (N/A) | 40
l40s-48gb.4x | 32 | 4 x L40S 48GB PCIe | 588 | none (N/A) | 80
l40s-48gb.8x | 64 | 8 x L40S 48GB PCIe | 1176 | none (N/A) | 160
l40s-48gb.10x | 80 | 10 x L40S 48GB PCIe | 1470 | none (N/A) | 200
`.trim();

it('the VM types are the catalogue of the contract, in its order', () => {
  const rows = CATALOGUE.map((type) => {
    const drives =
      type.diskCount > 0
        ? `${type.diskCount} x ${type.diskGb / type.diskCount}GB NVMe`
        : 'none (N/A)';
    const gpus = `${type.gpuCount} x ${type.gpuType}`;
    return [type.name, type.cpuCores, gpus, type.memoryGb, drives, type.networkGbps].join(' | ');
  });
  expect(rows.join('\n')).toBe(CONTRACT);
});

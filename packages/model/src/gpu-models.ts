/**
 * The names of GPU models by PCI id, as VM types use them: chip, memory, form. An id is listed only if
 * it identifies one card. For example, 10de:25b6 is missing because it is both the A2 and the A16.
 */
const GPU_MODELS: ReadonlyMap<string, string> = new Map([
  ['10de:1db1', 'V100 16GB SXM2'],
  ['10de:1db4', 'V100 16GB PCIe'],
  ['10de:1db5', 'V100 32GB SXM2'],
  ['10de:1db6', 'V100 32GB PCIe'],
  ['10de:1eb8', 'T4 16GB PCIe'],
  ['10de:20b0', 'A100 40GB SXM4'],
  ['10de:20b2', 'A100 80GB SXM4'],
  ['10de:20b5', 'A100 80GB PCIe'],
  ['10de:20b7', 'A30 24GB PCIe'],
  ['10de:20f1', 'A100 40GB PCIe'],
  ['10de:2235', 'A40 48GB PCIe'],
  ['10de:2236', 'A10 24GB PCIe'],
  ['10de:2321', 'H100 NVL 94GB PCIe'],
  ['10de:2330', 'H100 80GB SXM5'],
  ['10de:2331', 'H100 80GB PCIe'],
  ['10de:2335', 'H200 141GB SXM5'],
  ['10de:233b', 'H200 NVL 141GB PCIe'],
  ['10de:26b5', 'L40 48GB PCIe'],
  ['10de:26b9', 'L40S 48GB PCIe'],
  ['10de:27b8', 'L4 24GB PCIe'],
  ['1002:738c', 'MI100 32GB PCIe'],
  ['1002:740f', 'MI210 64GB PCIe'],
  ['1002:74a1', 'MI300X 192GB OAM'],
]);

/** An unknown card is named by its ids: operators can see it, and no VM type uses it. */
export function gpuModelOf(vendorId: string, deviceId: string): string {
  const ids = `${vendorId}:${deviceId}`.toLowerCase();
  return GPU_MODELS.get(ids) ?? ids;
}

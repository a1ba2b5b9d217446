import type { Sysfs } from '../base/sysfs.ts';

const GROUPS = 'kernel/iommu_groups';
/** What the kernel calls the ways a group's devices reach memory; DMA-FQ is DMA with flushes put off. */
const MODES: Record<string, string> = {
  DMA: 'translated',
  'DMA-FQ': 'translated',
  identity: 'identity',
};

/** As most groups are: translated or identity. Empty: no IOMMU, or its kernel does not say. */
export async function readIommuMode(sysfs: Sysfs): Promise<string> {
  let translated = 0;
  let identity = 0;
  for (const group of await sysfs.list(GROUPS)) {
    const mode = MODES[(await sysfs.text(`${GROUPS}/${group}/type`)) ?? ''];
    if (mode === 'translated') translated += 1;
    if (mode === 'identity') identity += 1;
  }
  if (translated === 0 && identity === 0) return '';
  return translated >= identity ? 'translated' : 'identity';
}

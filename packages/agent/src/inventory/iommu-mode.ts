import type { Sysfs } from '../base/sysfs.ts';

const GROUPS = 'kernel/iommu_groups';
/**
 * The kernel's names for how a group's devices access memory; DMA-FQ is DMA with deferred flushes.
 */
const MODES: Record<string, string> = {
  DMA: 'translated',
  'DMA-FQ': 'translated',
  identity: 'identity',
};

/**
 * Returns the mode of most groups: translated or identity. Empty: no IOMMU, or a kernel that does
 * not show it.
 */
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

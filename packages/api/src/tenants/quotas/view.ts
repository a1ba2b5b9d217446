import type { QuotaRow } from '@gantry/db/queries/quotas';

/** A maximum lowered below what is used leaves nothing available, not less than nothing. */
export function quotaView({ type, max, used }: QuotaRow) {
  return { type, max, used, available: Math.max(0, max - used) };
}

import type { QuotaRow } from '@gantry/db/queries/tenants/quotas';

/**
 * If the maximum was lowered below the usage, nothing is available, rather than less than nothing.
 */
export function quotaView({ type, max, used }: QuotaRow) {
  return { type, max, used, available: Math.max(0, max - used) };
}

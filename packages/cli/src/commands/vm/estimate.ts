import type { Schemas } from '@gantry/sdk';
import { priceText } from '../price.ts';

type Estimate = Schemas['VmEstimate'];

/** What `vm create --dry-run` prints for people. */
export function estimateFields(estimate: Estimate, vmType: string) {
  const { fits, reason, charges } = estimate;
  return [
    ['Fits now', fits ? 'yes' : 'no'],
    ['Reason', reason],
    ['USD per hour', priceText(estimate)],
    ...charges.map((charge) => ['Charge', chargeText(charge, vmType)] as const),
  ] as const;
}

/** The other charges are those of new disks. */
function chargeText(charge: Estimate['charges'][number], vmType: string): string {
  const { resource_type, quantity } = charge;
  const what = resource_type === vmType ? vmType : `${resource_type} ${quantity} GB`;
  return `${what}: ${priceText(charge)}`;
}

export type PriceRow = { name: string; usd: number | undefined; isDisk: boolean; retired: boolean };

/** Disks of these types are billed by their size. */
const DISK_TYPES = ['persistent-ssd', 'shared-volume'];

type Named = { name: string; retired: boolean };
type Price = { resource_type: string; usd_per_hour: number };

/** One row for each thing that can have a price. Retired types without a price are left out. */
export function priceRows(types: readonly Named[], prices: readonly Price[]): PriceRow[] {
  const usdOf = new Map(
    prices.map(({ resource_type, usd_per_hour }) => [resource_type, usd_per_hour]),
  );
  const disks = DISK_TYPES.map((name) => ({ name, isDisk: true, retired: false }));
  const vms = types.map(({ name, retired }) => ({ name, isDisk: false, retired }));
  return [...disks, ...vms]
    .map((each) => ({ ...each, usd: usdOf.get(each.name) }))
    .filter(({ retired, usd }) => !retired || usd !== undefined);
}

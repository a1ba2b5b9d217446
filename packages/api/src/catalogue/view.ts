import type { AvailabilityRow, VmTypeRow } from '@gantry/db/queries/catalogue/catalogue';
import { whyNoneFits } from './why-none-fits.ts';

export function availabilityView(row: AvailabilityRow) {
  const { type, location, available, fitting, lacking, usd_per_hour } = row;
  return {
    ...{ type, location, available, count: fitting },
    reason: available ? '' : whyNoneFits(lacking),
    ...{ usd_per_hour: usd_per_hour ?? 0, priced: usd_per_hour !== null },
  };
}

export function specView(row: VmTypeRow) {
  return {
    product_name: row.name,
    description: row.description,
    cpu_cores: row.cpu_cores,
    cpu_type: row.cpu_type,
    memory_gb: row.memory_gb,
    memory_type: row.memory_type,
    disk_gb: row.disk_gb,
    disk_type: row.disk_type,
    num_gpu: row.gpu_count,
    gpu_type: row.gpu_type,
  };
}

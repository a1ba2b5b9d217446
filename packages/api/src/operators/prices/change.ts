import type { Queryable } from '@gantry/db/connect';
import {
  isVmType,
  type PriceRow,
  removePrice,
  replacePrice,
} from '@gantry/db/queries/catalogue/prices';
import { CloudError, notFound } from '@gantry/model/errors';
import { STORAGE_TYPES } from '@gantry/model/states';
import { PRICE_DECIMALS } from './schema.ts';

/** Refuses unknown types: a mistyped name would leave the intended type without a price. */
export async function setPrice(sql: Queryable, price: PriceRow): Promise<PriceRow> {
  const { resource_type: resourceType, usd_per_hour } = price;
  const isStorageType = STORAGE_TYPES.some((type) => type === resourceType);
  if (!isStorageType && !(await isVmType(sql, resourceType))) {
    throw new CloudError(
      'unknown_type',
      `"${resourceType}" is neither a VM type nor a disk type nor snapshot nor image: see GET /v0.1/admin/vm-types`,
    );
  }
  await replacePrice(sql, { resourceType, usdPerHour: usd_per_hour.toFixed(PRICE_DECIMALS) });
  return price;
}

export async function deletePrice(sql: Queryable, resourceType: string): Promise<PriceRow> {
  const price = await removePrice(sql, resourceType);
  if (!price) throw notFound('price');
  return price;
}

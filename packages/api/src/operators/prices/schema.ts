import { z } from '@hono/zod-openapi';
import { CatalogueName, Items } from '../../http/fields.ts';

export const Price = z
  .object({ resource_type: z.string(), usd_per_hour: z.number() })
  .openapi('Price');
export const Prices = Items(Price);

/** The number of decimals that the database column has. */
export const PRICE_DECIMALS = 8;
const LARGEST_PRICE = 1_000_000;

export const SetPrice = z
  .strictObject({
    usd_per_hour: z
      .number()
      .min(0, 'must not be negative')
      .max(LARGEST_PRICE, `must be at most ${LARGEST_PRICE}`)
      .refine(
        (usd) => Number(usd.toFixed(PRICE_DECIMALS)) === usd,
        `must have at most ${PRICE_DECIMALS} decimals`,
      ),
  })
  .openapi('SetPrice');

export const PriceParams = z.object({ resource_type: CatalogueName });

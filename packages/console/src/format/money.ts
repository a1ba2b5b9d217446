const exact = new Intl.NumberFormat('en-US', {
  ...{ style: 'currency', currency: 'USD', minimumFractionDigits: 2, maximumFractionDigits: 4 },
});
const rounded = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });

/** A price, with as many digits as it needs. */
export const formatPrice = (usd: number) => exact.format(usd);

/** An amount that is paid, in whole cents. */
export const formatAmount = (usd: number) => rounded.format(usd);

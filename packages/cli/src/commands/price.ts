type Price = { usd_per_hour: number; priced: boolean };

/** Has up to four digits after the point, because a small disk costs less than a cent per hour. */
export function priceText({ usd_per_hour, priced }: Price): string {
  const text = usd_per_hour.toFixed(4).replace(/0{1,2}$/, '');
  if (priced) return text;
  return usd_per_hour > 0 ? `${text} or more` : 'no price';
}

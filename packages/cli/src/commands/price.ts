type Price = { usd_per_hour: number; priced: boolean };

/** Has up to four digits after the point, because a small disk costs less than a cent per hour. */
export function priceText({ usd_per_hour, priced }: Price): string {
  const text = usd_per_hour.toFixed(4).replace(/0{1,2}$/, '');
  if (priced) return text;
  return usd_per_hour > 0 ? `${text} or more` : 'no price';
}

type Usage = {
  vm_seconds: number;
  vm_cost_usd: number;
  os_disk_cost_usd: number;
  cost_usd: number;
  priced: boolean;
};

/** "USD 12.31: 4.2 hours 12.18, OS disk 0.13" */
export function costText(usage: Usage): string {
  const hours = (usage.vm_seconds / 3600).toFixed(1);
  const parts = `${hours} hours ${usage.vm_cost_usd.toFixed(2)}, OS disk ${usage.os_disk_cost_usd.toFixed(2)}`;
  return `USD ${usage.cost_usd.toFixed(2)}${usage.priced ? '' : ' or more'}: ${parts}`;
}

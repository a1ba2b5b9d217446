/** The size of a disk as people read it: "2 TiB". */
export function showSize(size: string): string {
  return size.replace(/^(\d+)(?=[GT]iB$)/, '$1 ');
}

/** The size of a disk as a number, so that sizes are sorted by their amount: "2TiB" is 2048. */
export function sizeInGib(size: string): number {
  const [, amount = '0', unit] = /^(\d+)(GiB|TiB)$/.exec(size) ?? [];
  return Number(amount) * (unit === 'TiB' ? 1024 : 1);
}

/** Converts between device ids and bit masks over the positions of a list of ids. */

export function idsIn(ids: readonly string[], mask: number): string[] {
  const chosen: string[] = [];
  for (let i = 0; i < ids.length; i += 1) if (mask & (1 << i)) chosen.push(ids[i] ?? '');
  return chosen;
}

export function maskOfIds(all: readonly string[], ids: readonly string[]): number {
  let mask = 0;
  for (const id of ids) {
    const position = all.indexOf(id);
    if (position < 0) throw new Error(`BUG: device ${id} is not on the host`);
    mask |= 1 << position;
  }
  return mask;
}

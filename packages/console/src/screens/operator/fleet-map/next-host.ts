import type { PlacedHost } from './layout.ts';

const DIRECTIONS: Record<string, { dx: number; dy: number }> = {
  ArrowLeft: { dx: -1, dy: 0 },
  ArrowRight: { dx: 1, dy: 0 },
  ArrowUp: { dx: 0, dy: -1 },
  ArrowDown: { dx: 0, dy: 1 },
};

/** Returns the nearest host in the direction of an arrow key, or null for other keys and at the edge. */
export function nextHost(
  hosts: readonly PlacedHost[],
  from: PlacedHost | null,
  key: string,
): PlacedHost | null {
  const direction = DIRECTIONS[key];
  if (!direction) return null;
  if (!from) return hosts[0] ?? null;
  let nearest: PlacedHost | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const host of hosts) {
    const along = (host.x - from.x) * direction.dx + (host.y - from.y) * direction.dy;
    if (along <= 0) continue;
    // A host beside the direction is farther away than one in it.
    const across =
      Math.abs((host.x - from.x) * direction.dy) + Math.abs((host.y - from.y) * direction.dx);
    const distance = along + 3 * across;
    if (distance < least) [nearest, least] = [host, distance];
  }
  return nearest;
}

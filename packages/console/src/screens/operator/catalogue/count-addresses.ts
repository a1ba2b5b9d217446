type Address = { location: string; vm_id: string; project_id: string };

/** How many addresses each location has, and how many of them a VM or a project can still get. */
export function countAddresses(addresses: readonly Address[]) {
  const counts = new Map<string, { location: string; free: number; total: number }>();
  for (const { location, vm_id, project_id } of addresses) {
    const count = counts.get(location) ?? { location, free: 0, total: 0 };
    count.total += 1;
    if (vm_id === '' && project_id === '') count.free += 1;
    counts.set(location, count);
  }
  return [...counts.values()].sort((a, b) => a.location.localeCompare(b.location, 'en'));
}

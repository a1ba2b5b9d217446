/** Reads the kernel's list format: "0-3,8" -> [0, 1, 2, 3, 8]. Parts that are not numbers are ignored. */
export function parseCpuList(list: string): number[] {
  return list.split(',').flatMap((range) => {
    const [, first, last = first] = /^\s*(\d+)(?:-(\d+))?\s*$/.exec(range) ?? [];
    if (first === undefined) return [];
    const length = Math.max(0, Number(last) - Number(first) + 1);
    return Array.from({ length }, (_, index) => Number(first) + index);
  });
}

/** Writes the kernel's list format, in ascending order. */
export function formatCpuList(cpus: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const cpu of [...cpus].sort((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range && cpu === range[1] + 1) range[1] = cpu;
    else ranges.push([cpu, cpu]);
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join();
}

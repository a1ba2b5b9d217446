/** The path of a line in a square of 100 by 100, from the first moment to the last and from 0 to `top`. */
export function pathOf(at: readonly number[], values: readonly number[], top: number): string {
  const [first = 0] = at;
  const time = Math.max(1, (at.at(-1) ?? first) - first);
  return values
    .map((value, index) => {
      const x = (((at[index] ?? first) - first) / time) * 100;
      return `${index === 0 ? 'M' : 'L'}${x.toFixed(2)} ${(100 - (value / top) * 100).toFixed(2)}`;
    })
    .join('');
}

/** The smallest of 4, 10, 20, 40, 100, 200, … that is not below the largest value. */
export function niceTop(largest: number): number {
  let top = 4;
  for (let step = 0; top < largest; step += 1) top *= [2.5, 2, 2][step % 3] ?? 2;
  return top;
}

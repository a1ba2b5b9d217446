type Sample = {
  at: string;
  model: string;
  free: number;
  sold: number;
  blocked: number;
  free_on_whole_hosts: number;
};

/** One value of each list for each moment; `at` in seconds since 1970. */
export type Series = {
  at: number[];
  free: number[];
  sold: number[];
  blocked: number[];
  whole: number[];
};

/** Adds the samples of all locations, and of all models if `model` is empty. The samples are sorted by time. */
export function sumSamples(samples: readonly Sample[], model: string): Series {
  const series: Series = { at: [], free: [], sold: [], blocked: [], whole: [] };
  for (const sample of samples) {
    if (model !== '' && sample.model !== model) continue;
    const at = Date.parse(sample.at) / 1000;
    if (series.at.at(-1) !== at) {
      series.at.push(at);
      for (const list of [series.free, series.sold, series.blocked, series.whole]) list.push(0);
    }
    const last = series.at.length - 1;
    series.free[last] = (series.free[last] ?? 0) + sample.free;
    series.sold[last] = (series.sold[last] ?? 0) + sample.sold;
    series.blocked[last] = (series.blocked[last] ?? 0) + sample.blocked;
    series.whole[last] = (series.whole[last] ?? 0) + sample.free_on_whole_hosts;
  }
  return series;
}

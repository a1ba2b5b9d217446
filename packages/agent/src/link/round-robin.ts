/**
 * Returns another scheduler for each attempt, starting at a random one, so that hosts that
 * reconnect together spread over the schedulers, and none tries the one that it has just left.
 */
export function roundRobin(schedulers: readonly string[]): () => string {
  let next = Math.floor(Math.random() * schedulers.length);
  return () => {
    next = (next + 1) % schedulers.length;
    return schedulers[next] ?? '';
  };
}

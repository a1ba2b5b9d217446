const PAUSE_MS = 100;

/** Polls the condition. Returns false if it does not hold before the timeout. */
export async function untilTrue(
  condition: () => Promise<boolean>,
  timeoutMs: number,
  pauseMs = PAUSE_MS,
): Promise<boolean> {
  const untilMs = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > untilMs) return false;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  return true;
}

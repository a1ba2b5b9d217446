const PAUSE_MS = 100;

/** Asks again and again; false once the time is over. */
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

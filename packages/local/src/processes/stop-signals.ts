/** npm passes a Ctrl-C on that the terminal has sent already: as close as this it is the same one. */
const SAME_PRESS_MS = 300;

type StopSignals = { onFirst: () => void; onSecond: () => void };

/** The word to stop: a signal, or the end of the process that started us. A second one is urgent. */
export function listenForStop({ onFirst, onSecond }: StopSignals): void {
  let firstAt: number | undefined;
  const hear = (urgent: boolean) => {
    if (firstAt === undefined) {
      firstAt = Date.now();
      onFirst();
    } else if (urgent && Date.now() - firstAt > SAME_PRESS_MS) onSecond();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => hear(true));
  }
  process.on('disconnect', () => hear(false));
}

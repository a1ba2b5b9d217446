/** npm forwards a Ctrl-C that the terminal has already sent. Two this close are one key press. */
const SAME_PRESS_MS = 300;

type StopSignals = { onFirst: () => void; onSecond: () => void };

/** Stop requests: signals, and the exit of the parent process. A second signal means stop now. */
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

import type { CliContext } from '../cli-context.ts';

const REDRAW_MS = 1_000;
const CLEAR_LINE = '\r\u001b[K';

/** Shows on the standard error how far something is. */
export type Progress = {
  /** Shows a state: a new line, or on a terminal in place of the one before, with a clock. */
  show(text: string): void;
  /** Leaves the last state as a line of its own. */
  end(): void;
};

export function startProgress({ process: { stderr } }: CliContext): Progress {
  const startedMs = performance.now();
  let current = '';
  const elapsed = () => `${Math.floor((performance.now() - startedMs) / 1000)} s`;
  if (!stderr.isTTY)
    return {
      show: (text) => void stderr.write(`${text}\n`),
      end: () => {},
    };
  const draw = () => {
    const line = `${current} (${elapsed()})`;
    stderr.write(CLEAR_LINE + line.slice(0, (stderr.columns ?? 80) - 1));
  };
  const timer = setInterval(draw, REDRAW_MS);
  return {
    show(text) {
      current = text;
      draw();
    },
    end() {
      clearInterval(timer);
      stderr.write('\n');
    },
  };
}

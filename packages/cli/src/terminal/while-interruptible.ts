import { InterruptedError } from '../cli-errors.ts';

/** Runs the work with a signal that Ctrl-C aborts. A second Ctrl-C ends the process. */
export async function whileInterruptible<T>(
  message: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const interrupt = () => controller.abort(new InterruptedError(message));
  process.once('SIGINT', interrupt);
  try {
    return await work(controller.signal);
  } finally {
    process.off('SIGINT', interrupt);
  }
}

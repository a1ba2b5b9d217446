import { OperationFailedError } from './errors.ts';
import type { Schemas } from './operation.ts';
import { pause } from './retry.ts';

type Operation = Schemas['Operation'];

export type WaitOptions = {
  /** Ends the wait. The operation itself goes on. */
  signal?: AbortSignal | undefined;
  /** Called with the operation at first and after each change of it, also with its end. */
  onStep?: ((operation: Operation) => void) | undefined;
};

/** Short operations end soon, and long ones need no quick polls. */
const FIRST_POLL_MS = 200;
const SLOWEST_POLL_MS = 5_000;
const SLOWDOWN = 1.5;

/**
 * Polls an operation until it ends. Returns it if it succeeded, and throws an OperationFailedError if
 * it failed. Every operation ends: the server has a deadline for each.
 */
export async function waitForOperation(
  read: () => Promise<Operation>,
  started: Operation,
  { signal, onStep }: WaitOptions,
): Promise<Operation> {
  let operation = started;
  onStep?.(operation);
  for (let waitMs = FIRST_POLL_MS; operation.state === 'IN_PROGRESS'; ) {
    await pause(waitMs, signal);
    waitMs = Math.min(waitMs * SLOWDOWN, SLOWEST_POLL_MS);
    const next = await read();
    const isChanged = canonical(next) !== canonical(operation);
    operation = next;
    if (!isChanged) continue;
    onStep?.(operation);
    // Something happened, so the next step may follow soon.
    waitMs = FIRST_POLL_MS;
  }
  if (operation.state === 'FAILED') throw new OperationFailedError(operation);
  return operation;
}

/** The same text for equal operations. The members of an object may come in any order. */
function canonical(operation: Operation): string {
  return JSON.stringify(operation, (_, value) =>
    value instanceof Object && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

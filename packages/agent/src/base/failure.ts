import { MachineFailure } from '../host-driver.ts';

/** What went wrong and still stands, as reports carry it. */
export type Failure = { code: string; message: string; sinceMs: number };

/** The first time stays while the same goes on failing. */
export function failureOf(error: unknown, before: Failure | null, nowMs: number): Failure {
  const message = error instanceof Error && error.message !== '' ? error.message : String(error);
  const code = error instanceof MachineFailure ? error.code : 'host_failed';
  return { code, message, sinceMs: before?.code === code ? before.sinceMs : nowMs };
}

import { ApiError, ConnectionError, NotLoggedInError, OperationFailedError } from '@gantry/sdk';
import { ExitCode } from '@stricli/core';
import {
  ConsoleClosedError,
  ImportError,
  InterruptedError,
  NoSuchNameError,
  RolloutPausedError,
  UsageError,
} from './cli-errors.ts';

/** Scripts rely on these numbers, so they never change. docs/tenants/cli.md lists them. */
export const EXIT = {
  success: 0,
  unexpected: 1,
  usage: 2,
  notLoggedIn: 3,
  notFound: 4,
  refused: 5,
  operationFailed: 6,
  unavailable: 7,
  unhealthy: 8,
  unverified: 9,
  interrupted: 130,
} as const;

export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof NoSuchNameError) return EXIT.notFound;
  if (error instanceof NotLoggedInError) return EXIT.notLoggedIn;
  if (error instanceof OperationFailedError) return EXIT.operationFailed;
  if (error instanceof RolloutPausedError) return EXIT.operationFailed;
  if (error instanceof ConnectionError) return EXIT.unavailable;
  if (error instanceof InterruptedError) return EXIT.interrupted;
  if (error instanceof ImportError) return EXIT.unverified;
  if (error instanceof ApiError) return exitCodeOfStatus(error.status);
  if (error instanceof ConsoleClosedError) return exitCodeOfClose(error.closeCode);
  return EXIT.unexpected;
}

function exitCodeOfStatus(status: number): number {
  if (status === 401) return EXIT.notLoggedIn;
  if (status === 404) return EXIT.notFound;
  return status === 429 || status >= 500 ? EXIT.unavailable : EXIT.refused;
}

/** docs/contract/vms.md lists the codes with which the server closes a console. */
function exitCodeOfClose(code: number): number {
  if (code === 4401) return EXIT.notLoggedIn;
  // A guest that is shut down on its console ends it.
  if (code === 4410) return EXIT.success;
  return code === 4409 ? EXIT.refused : EXIT.unavailable;
}

/** The parser of the command line reports its errors as negative numbers, which no process can return. */
export function exitCodeOfRun(code: number | string | null): number {
  const number = Number(code ?? EXIT.success);
  if (number >= 0) return number;
  const isUsage = number === ExitCode.UnknownCommand || number === ExitCode.InvalidArgument;
  return isUsage ? EXIT.usage : EXIT.unexpected;
}

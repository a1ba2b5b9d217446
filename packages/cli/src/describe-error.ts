import { ApiError, ConnectionError, NotLoggedInError, OperationFailedError } from '@gantry/sdk';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import { printable } from './terminal/printable.ts';

/**
 * Returns the lines that a person reads: the message of the server, the refused fields, and the code
 * and the request id, which the operators of the installation need.
 */
export function describeError(error: unknown): string {
  return linesOf(error)
    .map((line) => printable(line))
    .join('\n');
}

function linesOf(error: unknown): string[] {
  if (error instanceof ApiError) return apiErrorLines(error);
  if (error instanceof OperationFailedError) {
    const { code, message, operation } = error;
    return [`gantry: ${message}`, `  code: ${code}`, `  operation: ${operation.operation_id}`];
  }
  if (error instanceof NotLoggedInError)
    return ['gantry: You are not logged in. Run: gantry login'];
  if (error instanceof ConnectionError) return connectionErrorLines(error);
  if (exitCodeOf(error) !== EXIT.unexpected) return [`gantry: ${(error as Error).message}`];
  // The stack helps to find the mistake, and this is one of the CLI or of its surroundings.
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `gantry: ${text}`.split('\n');
}

function apiErrorLines({ code, message, status, fields, requestId }: ApiError): string[] {
  const advice = status === 401 && code === 'bad_credential' ? ['  Run: gantry login'] : [];
  return [
    `gantry: ${message}`,
    ...fields
      .map(({ field, reason }) => `${field}: ${reason}`)
      // The message of the server has the first of them already.
      .filter((text) => !message.includes(text))
      .map((text) => `  ${text}`),
    `  code: ${code}`,
    ...(requestId === '' ? [] : [`  request: ${requestId}`]),
    ...advice,
  ];
}

function connectionErrorLines({ message, mayHaveHappened }: ConnectionError): string[] {
  const advice = '  The change may have been made. Look before you repeat the command.';
  return [`gantry: ${message}`, ...(mayHaveHappened ? [advice] : [])];
}

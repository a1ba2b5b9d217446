import { type DestinationStream, type Logger, pino } from 'pino';
import { BufferedOutput } from './buffered-output.ts';
import { redactFields, redactText } from './redact.ts';

export type Log = Logger;

type LogOptions = {
  process: string;
  level?: string;
  /** Lines are written in batches, within a second. For processes that log every request. */
  buffered?: boolean;
  destination?: DestinationStream;
};

/** JSON lines on stdout. Errors include their whole chain of causes; secrets are redacted. */
export function createLog({
  process: name,
  level = 'info',
  buffered = false,
  destination,
}: LogOptions): Log {
  return pino(
    {
      level,
      base: { process: name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: redactFields },
      serializers: { error: describeError },
    },
    destination ?? stdout(buffered),
  );
}

function stdout(buffered: boolean): DestinationStream {
  return buffered ? new BufferedOutput(1) : pino.destination({ fd: 1, sync: true });
}

type ErrorLine = {
  name: string;
  message: string;
  code?: unknown;
  stack?: string;
  cause?: ErrorLine;
};

function describeError(error: unknown): ErrorLine {
  if (!(error instanceof Error)) return { name: 'NotAnError', message: redactText(String(error)) };
  const line: ErrorLine = { name: error.name, message: redactText(error.message) };
  if ('code' in error) line.code = error.code;
  if (error.stack) line.stack = redactText(error.stack);
  if (error.cause !== undefined) line.cause = describeError(error.cause);
  return line;
}

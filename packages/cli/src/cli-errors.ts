/** The command cannot be carried out as it was typed. The message says what to type instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** There is nothing with the name that was given. */
export class NoSuchNameError extends Error {
  override readonly name = 'NoSuchNameError';
}

/** The server closed a console. https://www.iana.org/assignments/websocket lists the codes below 4000. */
export class ConsoleClosedError extends Error {
  override readonly name = 'ConsoleClosedError';
  readonly closeCode: number;

  constructor(closeCode: number, reason: string) {
    super(reason === '' ? 'the connection to the console was lost' : reason);
    this.closeCode = closeCode;
  }
}

/** A rollout was paused before it reached all hosts. */
export class RolloutPausedError extends Error {
  override readonly name = 'RolloutPausedError';
}

/** The user pressed Ctrl-C. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
}

/** An image cannot be imported. The message says which file is wrong and why. */
export class ImportError extends Error {
  override readonly name = 'ImportError';

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
  }
}

/** The command cannot be carried out as it was typed. The message says what to type instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** There is nothing with the name that was given. */
export class NoSuchNameError extends Error {
  override readonly name = 'NoSuchNameError';
}

/** The user pressed Ctrl-C. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
}

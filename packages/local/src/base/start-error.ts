/** An error that the user at the terminal can fix. It is printed without a stack trace. */
export class StartError extends Error {
  override name = 'StartError';
}

export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

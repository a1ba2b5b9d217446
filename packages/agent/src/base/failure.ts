/** Something that a host could not do. The code is stable, and VM reports carry it as it is. */
export class HostFailure extends Error {
  override name = 'HostFailure';
  readonly code: string;
  /** Another attempt would take as long and fail in the same way. */
  readonly isFinal: boolean;

  constructor(code: string, message: string, options: ErrorOptions & { isFinal?: boolean } = {}) {
    super(message, options);
    this.code = code;
    this.isFinal = options.isFinal ?? false;
  }
}

/** A problem that persists, as reports carry it. */
export type Failure = { code: string; message: string; sinceMs: number };

/** The time of the first occurrence is kept while the code stays the same. */
export function failureOf(error: unknown, before: Failure | null, nowMs: number): Failure {
  const message = error instanceof Error && error.message !== '' ? error.message : String(error);
  const code = error instanceof HostFailure ? error.code : 'host_failed';
  return { code, message, sinceMs: before?.code === code ? before.sinceMs : nowMs };
}

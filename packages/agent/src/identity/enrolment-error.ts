const ENROLMENT_FAILURES = [
  'bad_address',
  'bad_fingerprint',
  'unreachable',
  'wrong_authority',
  /** The scheduler refused; a valid token is still valid. */
  'refused',
  /** It is not known whether the token was used. */
  'lost_reply',
  'bad_reply',
  'already_enrolled',
  'unwritable',
] as const;
export type EnrolmentFailure = (typeof ENROLMENT_FAILURES)[number];

/** The message is for the person who sets up the host. */
export class EnrolmentError extends Error {
  override name = 'EnrolmentError';
  readonly failure: EnrolmentFailure;

  constructor(failure: EnrolmentFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.failure = failure;
  }
}

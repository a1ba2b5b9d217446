const ENROLMENT_FAILURES = [
  'bad_address',
  'bad_fingerprint',
  'unreachable',
  'wrong_authority',
  /** The scheduler said no; the token, if it was good, is still good. */
  'refused',
  /** Whether the token was used up is not known. */
  'lost_reply',
  'bad_reply',
  'already_enrolled',
  'unwritable',
] as const;
export type EnrolmentFailure = (typeof ENROLMENT_FAILURES)[number];

/** Its message is for whoever sets the host up. */
export class EnrolmentError extends Error {
  override name = 'EnrolmentError';
  readonly failure: EnrolmentFailure;

  constructor(failure: EnrolmentFailure, message: string, options: { cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.failure = failure;
  }
}

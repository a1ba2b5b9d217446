/**
 * The codes that programs can distinguish, and the kind of each. The HTTP and gRPC edges map kinds to
 * their own codes; no code depends on the text of a message. The message of a `CloudError` is public
 * and states what was wrong and what to do. Details for operators only are in `cause`.
 */
export const ERROR_KINDS = {
  bad_request: 'invalid',
  bad_credential: 'unauthenticated',
  totp_required: 'unauthenticated',
  payment_required: 'unpaid',
  forbidden: 'forbidden',
  not_found: 'not_found',
  conflict: 'conflict',
  operation_in_progress: 'conflict',
  idempotency_key_reused: 'conflict',
  disk_attached: 'conflict',
  name_taken: 'conflict',
  precondition_failed: 'changed',
  request_too_large: 'too_large',
  unsupported_media_type: 'unsupported',
  quota_exceeded: 'impossible',
  unknown_type: 'impossible',
  unknown_location: 'impossible',
  unknown_image: 'impossible',
  type_not_in_location: 'impossible',
  out_of_stock: 'impossible',
  too_many_requests: 'too_many',
  internal_error: 'internal',
  unavailable: 'unavailable',
} as const;

export type ErrorCode = keyof typeof ERROR_KINDS;
export type ErrorKind = (typeof ERROR_KINDS)[ErrorCode];

export type FieldError = { field: string; reason: string };

export class CloudError extends Error {
  override name = 'CloudError';
  readonly code: ErrorCode;
  readonly details: unknown;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: unknown; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details;
  }

  get kind(): ErrorKind {
    return ERROR_KINDS[this.code];
  }
}

/** An error for invalid input, with a reason for each field. */
export function badRequest(fields: FieldError[]): CloudError {
  const first = fields[0];
  const summary = first ? `${first.field}: ${first.reason}` : 'the request is invalid';
  return new CloudError('bad_request', summary, { details: fields });
}

/** The resource does not exist or belongs to another tenant; the caller cannot tell which. */
export function notFound(what: string): CloudError {
  return new CloudError('not_found', `${what} does not exist`);
}

/** Returns the row that a request names, and throws not_found if there is none. */
export function found<Row>(row: Row | undefined, what: string): Row {
  if (row === undefined) throw notFound(what);
  return row;
}

export function unknownLocation(name: string): CloudError {
  return new CloudError(
    'unknown_location',
    `there is no location "${name}": see GET /v0.1/locations`,
  );
}

/** No storage pool of the location that takes new volumes has room for this one. */
export function outOfStorage(volume: {
  location: string;
  diskType: string;
  gib: number;
}): CloudError {
  const { location, diskType: disk_type, gib } = volume;
  return new CloudError(
    'out_of_stock',
    `the storage in ${location} has no room for ${gib} GiB more: choose a smaller size or another location, or try again later`,
    { details: { location, disk_type, gib } },
  );
}

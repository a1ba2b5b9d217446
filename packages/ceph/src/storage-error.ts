/**
 * What a storage cluster refused, by cause. `unreachable`: it did not reply in time, so the change may have happened or
 * not. `busy`: a client has the volume open, or a clone needs it. `full`: the pool or its quota. `fenced`: this client
 * is on the blocklist. `failed`: anything else; the message says what.
 */
export type StorageErrorCode =
  | 'unreachable'
  | 'denied'
  | 'not_found'
  | 'exists'
  | 'busy'
  | 'full'
  | 'fenced'
  | 'failed';

export class StorageError extends Error {
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StorageError';
    this.code = code;
  }
}

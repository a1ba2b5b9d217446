// biome-ignore-all lint/performance/noBarrelFile: programs outside of this repository import the package by its name
export { type Client, type ClientOptions, createClient, type Login } from './client.ts';
export {
  type Credential,
  memoryTokenStore,
  NotLoggedInError,
  type TokenStore,
  type Tokens,
} from './credential.ts';
export {
  ApiError,
  ConnectionError,
  type ErrorCode,
  type FieldError,
  OperationFailedError,
} from './errors.ts';
export type { FollowOptions, StreamedEvent } from './follow-events.ts';
export type { Listing } from './listing.ts';
export type { CallOptions, Input, OperationId, Reply, Schemas } from './operation.ts';
export type { RetryLimits } from './retry.ts';
export { usageCsv } from './usage-csv.ts';
export type { WaitOptions } from './wait-for-operation.ts';

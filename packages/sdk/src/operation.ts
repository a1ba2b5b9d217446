import type { components, operations } from './generated/schema.ts';
import type { Listing } from './listing.ts';

/** The types of the API's objects, such as `Schemas['Vm']`. */
export type Schemas = components['schemas'];

/** What the OpenAPI document says about an operation, besides its types. */
export type OperationRoute<Id extends OperationId = OperationId> = {
  id: Id;
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  path: string;
  /** The operation accepts an Idempotency-Key, so it can be repeated. */
  takesKey?: true;
  /** The operation needs no bearer. */
  isPublic?: true;
};

export type OperationId = keyof operations;

type Members<T> = [NonNullable<T>] extends [never] ? unknown : NonNullable<T>;
type PathOf<Id extends OperationId> = Members<operations[Id]['parameters']['path']>;
type QueryOf<Id extends OperationId> = Members<operations[Id]['parameters']['query']>;
type BodyOf<Id extends OperationId> = operations[Id] extends {
  requestBody: { content: { 'application/json': infer Body } };
}
  ? { body: Body }
  : unknown;
type Flat<T> = { [Name in keyof T]: T[Name] };

/** The parameters of the path and of the query, and the body, in one object. */
export type Input<Id extends OperationId> = Flat<PathOf<Id> & QueryOf<Id> & BodyOf<Id>>;

export type Reply<Id extends OperationId> = operations[Id]['responses'] extends {
  200: { content: { 'application/json': infer Body } };
}
  ? Body
  : never;

type ItemOf<Page> = Page extends readonly (infer Item)[]
  ? Item
  : Page extends { items: readonly (infer Item)[] }
    ? Item
    : never;

export type CallOptions = {
  /** Ends the request, its retries and the waits between them. */
  signal?: AbortSignal | undefined;
  /**
   * The key of a write. The SDK makes one for each call. Pass your own to repeat a write safely after
   * your program was restarted.
   */
  idempotencyKey?: string | undefined;
  /** The ETag of a read. If the resource has changed since, the write throws an error with status 412. */
  ifMatch?: string | undefined;
  /** Called with the ETag of the reply, if it has one. */
  onEtag?: ((etag: string) => void) | undefined;
};

type Arguments<Id extends OperationId> =
  Record<never, never> extends Input<Id>
    ? [input?: Input<Id>, options?: CallOptions]
    : [input: Input<Id>, options?: CallOptions];

export type Call<Id extends OperationId> = (...given: Arguments<Id>) => Promise<Reply<Id>>;
export type List<Id extends OperationId> = (
  ...given: Arguments<Id>
) => Listing<Reply<Id>, ItemOf<Reply<Id>>>;

/** Makes the methods of the client. */
export type Bind = {
  call<Id extends OperationId>(route: OperationRoute<Id>): Call<Id>;
  list<Id extends OperationId>(route: OperationRoute<Id>): List<Id>;
};

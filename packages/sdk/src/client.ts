import { buildRequest } from './build-request.ts';
import { bearerSource, type Credential, type Grant, toTokens } from './credential.ts';
import { type FollowOptions, followEvents } from './follow-events.ts';
import { bindOperations } from './generated/resources.ts';
import { listing } from './listing.ts';
import type { Bind, CallOptions, OperationRoute, Schemas } from './operation.ts';
import { RETRY_LIMITS, type RetryLimits } from './retry.ts';
import { send } from './send.ts';
import { type WaitOptions, waitForOperation } from './wait-for-operation.ts';

export type ClientOptions = {
  /** The address of the installation, such as `https://api.example.com`; empty for that of the page. */
  baseUrl: string;
  credential: Credential;
  retry?: Partial<RetryLimits>;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch;
};

export type Login = { email: string; password: string; totp?: string };

export type Client = ReturnType<typeof createClient>;

/** Creates a client of one installation with one credential. It opens no connection by itself. */
export function createClient({ baseUrl, credential, retry = {}, fetch }: ClientOptions) {
  const limits = { ...RETRY_LIMITS, ...retry };
  // The global is looked up with each request, so that it may be instrumented later.
  const perform: typeof globalThis.fetch = fetch ?? ((...given) => globalThis.fetch(...given));

  const request = async (route: OperationRoute, input: Input = {}, options: CallOptions = {}) =>
    send(
      { fetch: perform, limits, bearers: route.isPublic ? undefined : bearers },
      { route, request: buildRequest(route, { baseUrl, input }), options },
    );
  // The generated methods give the parameters and the replies their types.
  const untyped = {
    call: (route: OperationRoute) => (input?: Input, options?: CallOptions) =>
      request(route, input, options),
    list: (route: OperationRoute) => (input?: Input, options?: CallOptions) =>
      listing((token) =>
        request(route, token === undefined ? input : { ...input, page_token: token }, options),
      ),
  };
  const operations = bindOperations(untyped as unknown as Bind);
  const grant: Grant = (body) => operations.tokens.grant({ body });
  const bearers = bearerSource(credential, grant);

  return {
    ...operations,
    /** Logs a user in with a password and stores the tokens. The credential must be a token store. */
    async logIn(login: Login): Promise<void> {
      if (!('tokens' in credential))
        throw new TypeError('logIn: the credential of the client must be a token store');
      const { tokens } = credential;
      await tokens.write(toTokens(await grant({ grant_type: 'password', ...login })));
    },
    /**
     * Follows everything that happens in a project, or without one in the installation, from now on.
     * A lost connection continues where it was.
     */
    followEvents({ project_id }: { project_id?: string } = {}, options: FollowOptions = {}) {
      const path =
        project_id === undefined ? '/v0.1/admin/events' : '/v0.1/projects/{project_id}/events';
      const input = project_id === undefined ? {} : { project_id };
      const { url } = buildRequest({ id: 'events.list', path }, { baseUrl, input });
      return followEvents({ fetch: perform, limits, bearers }, url, options);
    },
    /** Waits for an operation of a project, as a write returned it. */
    waitForOperation(
      { project_id, operation }: { project_id: string; operation: Operation },
      options: WaitOptions = {},
    ): Promise<Operation> {
      const reader = {
        vm: operations.vmOperations,
        disk: operations.diskOperations,
        snapshot: operations.snapshotOperations,
        backup: operations.backupOperations,
        image: operations.imageOperations,
        'vpc-firewall-rule': operations.firewallRuleOperations,
      }[operation.metadata.type];
      const { operation_id } = operation;
      const read = () => reader.get({ project_id, operation_id }, { signal: options.signal });
      return waitForOperation(read, operation, options);
    },
  };
}

type Input = Record<string, unknown>;
type Operation = Schemas['Operation'];

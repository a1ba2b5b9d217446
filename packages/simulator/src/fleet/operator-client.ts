/** The API calls of a simulated fleet, made as the operator. */
export type OperatorClient = {
  /** A token for one host of the location, and the SHA-256 of the fleet's authority. */
  makeJoinToken(location: string): Promise<{ token: string; caFingerprint: string }>;
  hasHost(hostId: string): Promise<boolean>;
  /** Gives images without a source one that simulated hosts accept. */
  giveImagesSources(): Promise<void>;
  /** Gives a location without public addresses the first of these blocks that is unused. */
  ensurePublicAddresses(location: string, cidrs: readonly string[]): Promise<void>;
};

type Account = { url: string; email: string; password: string };

/** A host name that never resolves. Simulated hosts fetch nothing. */
const SIMULATED_SOURCE = 'http://simulated.invalid';

export async function createOperatorClient(account: Account): Promise<OperatorClient> {
  const { access_token } = await send<{ access_token: string }>(account.url, {
    ...{ method: 'POST', path: '/auth/token' },
    body: { grant_type: 'password', email: account.email, password: account.password },
  });
  const call = <Reply>(method: string, path: string, body?: object) =>
    send<Reply>(account.url, { method, path, body, bearer: access_token });
  return {
    async makeJoinToken(location) {
      const body = { location };
      const reply = await call<{ token: string; ca_sha256: string }>(
        'POST',
        '/admin/join-tokens',
        body,
      );
      return { token: reply.token, caFingerprint: reply.ca_sha256 };
    },
    async hasHost(hostId) {
      try {
        await call('GET', `/admin/hosts/${hostId}`);
        return true;
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) return false;
        throw error;
      }
    },
    async giveImagesSources() {
      const { items } = await call<{ items: { id: string; name: string; source_url: string }[] }>(
        'GET',
        '/admin/images',
      );
      for (const { id, name } of items.filter(({ source_url }) => source_url === '')) {
        await call('PATCH', `/admin/images/${id}`, {
          source_url: `${SIMULATED_SOURCE}/${name}`,
          sha256: '0'.repeat(64),
        });
      }
    },
    async ensurePublicAddresses(location, cidrs) {
      const query = new URLSearchParams({ location, limit: '1' });
      const { items } = await call<{ items: object[] }>('GET', `/admin/public-addresses?${query}`);
      if (items.length > 0) return;
      for (const cidr of cidrs) {
        try {
          await call('POST', '/admin/public-addresses', { location, cidr });
          return;
        } catch (error) {
          if (!(error instanceof ApiError) || error.status !== 409) throw error;
        }
      }
    },
  };
}

class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

type Request = { method: string; path: string; body?: object | undefined; bearer?: string };

async function send<Reply>(url: string, { method, path, body, bearer }: Request): Promise<Reply> {
  const response = await fetch(`${url}/v0.1${path}`, {
    method,
    headers: {
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const reply = (await response.json()) as Reply & { message?: string };
  if (!response.ok) {
    const why = `${method} ${path}: ${response.status} ${reply.message ?? ''}`;
    throw new ApiError(response.status, why);
  }
  return reply;
}

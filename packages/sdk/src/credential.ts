import type { Schemas } from './operation.ts';

/**
 * What the client authenticates with: an access key, the tokens of a user's login, or a function that
 * returns a secret that the program got elsewhere.
 */
export type Credential =
  | { accessKey: string }
  | { tokens: TokenStore }
  | { bearer: () => string | Promise<string> };

/** The tokens of a login. */
export type Tokens = {
  access_token: string;
  refresh_token: string;
  /** In milliseconds since 1970, by the clock of this machine. */
  expires_at_ms: number;
};

/**
 * Keeps the tokens of a login. A refresh token works once, and its second use ends the login: all
 * programs that share a login must share its store, and refresh one at a time.
 */
export type TokenStore = {
  read(): Promise<Tokens | undefined>;
  write(tokens: Tokens): Promise<void>;
  /** Runs the work while no other user of the store runs any. */
  exclusively<T>(work: () => Promise<T>): Promise<T>;
};

/** Keeps tokens for as long as the program runs. */
export function memoryTokenStore(held?: Tokens): TokenStore {
  let tokens = held;
  let last: Promise<unknown> = Promise.resolve();
  return {
    read: async () => tokens,
    async write(next) {
      tokens = next;
    },
    exclusively(work) {
      const done = last.then(work, work);
      last = done.catch(() => {});
      return done;
    },
  };
}

/** The client has no tokens: `logIn` was not called, or the store was emptied. */
export class NotLoggedInError extends Error {
  override readonly name = 'NotLoggedInError';
  constructor() {
    super('there is no login: call logIn first');
  }
}

/** Where requests get their bearer from. */
export type BearerSource = {
  bearer(): Promise<string>;
  /** Returns another secret after the server refused one; undefined if there is no other. */
  renew(refused: string): Promise<string | undefined>;
};

type TokenRequest = Schemas['TokenRequest'];
export type Grant = (request: TokenRequest) => Promise<Schemas['TokenReply']>;

/** A token that expires so soon might expire on its way to the server. */
const EXPIRES_SOON_MS = 60_000;

export function bearerSource(credential: Credential, grant: Grant): BearerSource {
  if ('tokens' in credential) return tokenSource(credential.tokens, grant);
  const bearer =
    'accessKey' in credential ? async () => credential.accessKey : async () => credential.bearer();
  return {
    bearer,
    // A provider may have a newer secret by now. An access key never changes.
    async renew(refused) {
      const next = await bearer();
      return next === refused ? undefined : next;
    },
  };
}

function tokenSource(store: TokenStore, grant: Grant): BearerSource {
  /**
   * Refreshes the tokens unless another request has done so. No caller can abort this: the reply has
   * the only refresh token that still works.
   */
  const refresh = (refused: string | undefined) =>
    store.exclusively(async () => {
      const held = await store.read();
      if (held === undefined) throw new NotLoggedInError();
      if (held.access_token !== refused && !expiresSoon(held)) return held.access_token;
      const reply = await grant({
        grant_type: 'refresh_token',
        refresh_token: held.refresh_token,
      });
      await store.write(toTokens(reply));
      return reply.access_token;
    });
  return {
    async bearer() {
      const held = await store.read();
      if (held === undefined) throw new NotLoggedInError();
      return expiresSoon(held) ? await refresh(undefined) : held.access_token;
    },
    renew: refresh,
  };
}

function expiresSoon({ expires_at_ms }: Tokens): boolean {
  return expires_at_ms - Date.now() < EXPIRES_SOON_MS;
}

export function toTokens(reply: Schemas['TokenReply']): Tokens {
  const { access_token, refresh_token, expires_in } = reply;
  return { access_token, refresh_token, expires_at_ms: Date.now() + expires_in * 1000 };
}

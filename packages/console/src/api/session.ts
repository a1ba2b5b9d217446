import { ApiError, type TokenStore, type Tokens } from '@gantry/sdk';
import { observable } from './observable.ts';

/**
 * The login of this browser.
 *
 * The access token is kept in memory. The refresh token is kept in localStorage, so that all tabs share one
 * login. sessionStorage would be copied when a tab is duplicated; both copies would then use the same refresh
 * token, which works once, and the server would end the login as stolen. A lock that all tabs respect lets one
 * of them refresh at a time. Browsers have such locks only on HTTPS pages and on localhost: elsewhere each tab
 * has a login of its own. A script that could read either storage could also send requests as the user; the
 * policy of the page (`script-src 'self'`) is what keeps such scripts out.
 */
export type Session =
  /** There is no login: the login is the page. */
  | 'anonymous'
  | 'active'
  /** The login ended while the page was open: the login lies over the page, and requests wait for it. */
  | 'expired';

const KEY = 'gantry.refresh-token';
const PERSON = 'gantry.person';
const LOCK = 'gantry.refresh-token';
const locks = navigator.locks as LockManager | undefined;
const storage = locks ? localStorage : sessionStorage;

const held = () => storage.getItem(KEY) ?? undefined;

export const session = observable<Session>(held() === undefined ? 'anonymous' : 'active');

let access = { token: '', expiresAtMs: 0 };
/** The e-mail address of the person whose page this tab shows. */
let person = held() === undefined ? null : storage.getItem(PERSON);
/** Of the person who is logging in here. */
let candidate: string | undefined;
let lastWork: Promise<unknown> = Promise.resolve();

// Another tab has logged in or out.
addEventListener('storage', ({ key, newValue }) => {
  if (key !== KEY && key !== null) return;
  if (newValue === null) endSession('expired');
  else resume();
});

/** What one person has begun is never sent for another: the tab begins again with the other's page. */
function resume(): void {
  candidate = undefined;
  const now = storage.getItem(PERSON);
  if (person !== null && now !== person) {
    location.assign('/');
    return;
  }
  person = now;
  session.set('active');
}

/** Called before a login. */
export function expectPerson(email: string): void {
  candidate = email.toLowerCase();
}

function endSession(next: 'anonymous' | 'expired'): void {
  access = { token: '', expiresAtMs: 0 };
  storage.removeItem(KEY);
  if (session.get() !== 'anonymous') session.set(next);
}

/** Forgets the login in this browser. */
export function logOutHere(): void {
  person = null;
  endSession('anonymous');
}

function untilActive(): Promise<void> {
  return new Promise((resolve) => {
    const check = () => {
      if (session.get() !== 'active') return;
      cancel();
      resolve();
    };
    const cancel = session.subscribe(check);
    check();
  });
}

/**
 * The tokens for the SDK. If there are none, requests wait until the person has logged in, and are then sent:
 * so an expired login interrupts nothing that the person was doing.
 */
export const tokens: TokenStore = {
  async read(): Promise<Tokens> {
    for (;;) {
      const refreshToken = held();
      if (refreshToken !== undefined) {
        return {
          access_token: access.token,
          refresh_token: refreshToken,
          expires_at_ms: access.expiresAtMs,
        };
      }
      endSession('expired');
      await untilActive();
    }
  },
  async write({ access_token, refresh_token, expires_at_ms }) {
    access = { token: access_token, expiresAtMs: expires_at_ms };
    if (candidate !== undefined) storage.setItem(PERSON, candidate);
    storage.setItem(KEY, refresh_token);
    resume();
  },
  async exclusively(work) {
    for (;;) {
      try {
        return await alone(work);
      } catch (error) {
        // The refresh token has expired or was revoked.
        if (!(error instanceof ApiError) || error.status !== 401) throw error;
        endSession('expired');
        await untilActive();
      }
    }
  },
};

function alone<T>(work: () => Promise<T>): Promise<T> {
  if (locks) return locks.request(LOCK, work) as Promise<T>;
  const done = lastWork.then(work, work);
  lastWork = done.catch(() => {});
  return done;
}

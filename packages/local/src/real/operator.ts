import { StartError } from '../base/start-error.ts';
import type { Connection } from '../home/credentials.ts';

/** The API below /v0.1, called as the operator. A reply with an error status throws. */
export type Operator = {
  call<Reply>(method: string, path: string, body?: object): Promise<Reply>;
  /** Returns undefined if the API replies with this status. */
  unless<Reply>(status: number, method: string, path: string): Promise<Reply | undefined>;
};

/** A reply needs one or two queries. */
const LIMIT_MS = 15_000;

export async function connectOperator(connection: Connection): Promise<Operator> {
  const { base_url, operator_email: email, operator_password: password } = connection;
  let bearer = '';
  const send = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${base_url}/v0.1${path}`, {
      method,
      headers: {
        ...(bearer === '' ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const reply = await response.json();
    return { status: response.status, ok: response.ok, reply };
  };
  const refuse = (what: string, { status, reply }: { status: number; reply: unknown }) => {
    const { message = '' } = reply as { message?: string };
    return new StartError(`The API replied to ${what} with status ${status}: ${message}`);
  };
  const operator: Operator = {
    async call<Reply>(method: string, path: string, body?: object) {
      const response = await send(method, path, body);
      if (!response.ok) throw refuse(`${method} ${path}`, response);
      return response.reply as Reply;
    },
    async unless<Reply>(status: number, method: string, path: string) {
      const response = await send(method, path);
      if (response.status === status) return undefined;
      if (!response.ok) throw refuse(`${method} ${path}`, response);
      return response.reply as Reply;
    },
  };
  const login = { grant_type: 'password', email, password };
  const { access_token } = await operator.call<{ access_token: string }>(
    'POST',
    '/auth/token',
    login,
  );
  bearer = access_token;
  return operator;
}

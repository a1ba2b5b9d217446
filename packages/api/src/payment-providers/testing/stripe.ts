import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * A fake of the part of Stripe's HTTP interface that Gantry uses, on a loopback port. It checks the
 * bearer, the encoding of bodies, idempotency keys, and that a customer exists, as Stripe does. It
 * has no rate limits, API versions or portal pages.
 */
export type FakeStripe = {
  url: string;
  customers: ReadonlyMap<string, Record<string, string>>;
  /** The requests so far, such as "GET /v1/…". */
  requests: string[];
  /** Does what a person does in the portal. */
  enterPaymentMethod(customerId: string): void;
  /** Delays all replies until the returned function is called. */
  hold(): () => void;
  /** Makes every reply fail with this status; undefined ends that. */
  breakWith(status: number | undefined): void;
  stop(): Promise<void>;
};

type Reply = { status: number; body: object };
type Call = { method: string; path: string; form: Record<string, string> };
type State = {
  customers: Map<string, Record<string, string>>;
  methods: Map<string, object[]>;
};

export async function startFakeStripe(secretKey: string): Promise<FakeStripe> {
  const state: State = { customers: new Map(), methods: new Map() };
  const replies = new Map<string, { request: string; reply: Reply }>();
  const requests: string[] = [];
  let broken: number | undefined;
  let gate = Promise.resolve();

  const replyTo = async (request: IncomingMessage): Promise<Reply> => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const method = request.method ?? '';
    requests.push(`${method} ${path}`);
    await gate;
    if (broken !== undefined) return failure(broken, { type: 'api_error' });
    if (request.headers.authorization !== `Bearer ${secretKey}`) {
      return failure(401, { type: 'invalid_request_error' });
    }
    const body = await text(request);
    if (method === 'POST' && !isForm(request)) return failure(400, { type: 'not_form_encoded' });
    const call = { method, path, form: Object.fromEntries(new URLSearchParams(body)) };
    const key = request.headers['idempotency-key'];
    if (method !== 'POST' || typeof key !== 'string') return perform(state, call);
    const first = replies.get(key);
    if (first && first.request !== path + body) return failure(400, { type: 'idempotency_error' });
    if (first) return first.reply;
    const fresh = perform(state, call);
    replies.set(key, { request: path + body, reply: fresh });
    return fresh;
  };

  const server = createServer(async (request, response) => {
    const { status, body } = await replyTo(request);
    response.writeHead(status, { 'content-type': 'application/json', 'request-id': 'req_test' });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    customers: state.customers,
    requests,
    enterPaymentMethod(customerId) {
      const id = `pm_${state.methods.size + 1}`;
      state.methods.set(customerId, [{ id, object: 'payment_method', type: 'card' }]);
    },
    hold() {
      let release = () => {};
      gate = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
    breakWith(status) {
      broken = status;
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function perform({ customers, methods }: State, { method, path, form }: Call): Reply {
  if (method === 'POST' && path === '/v1/customers') {
    const id = `cus_${customers.size + 1}`;
    customers.set(id, form);
    return { status: 200, body: { id, object: 'customer', ...form } };
  }
  if (method === 'POST' && path === '/v1/billing_portal/sessions') {
    const customer = form['customer'] ?? '';
    if (!customers.has(customer)) return missing('customer');
    const url = `https://billing.stripe.test/session/${customer}?back=${form['return_url']}`;
    return { status: 200, body: { id: 'bps_1', object: 'billing_portal.session', url } };
  }
  const customer = /^\/v1\/customers\/([^/]+)\/payment_methods$/.exec(path)?.[1];
  if (method === 'GET' && customer) {
    if (!customers.has(customer)) return missing('customer');
    const data = methods.get(customer) ?? [];
    return { status: 200, body: { object: 'list', data, has_more: false, url: path } };
  }
  return failure(404, { type: 'invalid_request_error' });
}

function isForm(request: IncomingMessage): boolean {
  return request.headers['content-type'] === 'application/x-www-form-urlencoded';
}

function missing(param: string): Reply {
  return failure(404, { type: 'invalid_request_error', code: 'resource_missing', param });
}

function failure(status: number, error: Record<string, string>): Reply {
  return { status, body: { error: { message: 'the fake refuses', ...error } } };
}

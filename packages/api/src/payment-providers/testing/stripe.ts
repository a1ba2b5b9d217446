import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/**
 * A fake of the part of Stripe's HTTP interface that Gantry uses, on a loopback port. It checks the
 * bearer, the encoding of bodies, idempotency keys, that a customer exists, and that the value of a
 * meter event is a whole number, as Stripe does. It signs events as Stripe does. It has no rate
 * limits, API versions or portal pages, and remembers idempotency keys for ever.
 */
export type FakeStripe = {
  url: string;
  customers: ReadonlyMap<string, Form>;
  /** The requests so far, such as "GET /v1/…". */
  requests: string[];
  /** The accepted meter events by identifier, and the accepted invoice items and subscriptions. */
  meterEvents: ReadonlyMap<string, Form>;
  invoiceItems: readonly Form[];
  subscriptions: readonly Form[];
  /** Does what a person does in the portal. */
  enterPaymentMethod(customerId: string): void;
  removePaymentMethods(customerId: string): void;
  /** The customer has this many invoices whose payment failed. */
  setUnpaidInvoices(customerId: string, count: number): void;
  /** Delays all replies until the returned function is called. */
  hold(): () => void;
  /** Makes every reply fail with this status; undefined ends that. */
  breakWith(status: number | undefined): void;
  /** Does what is asked, but loses this many replies: the connection is cut instead. */
  loseReplies(count: number): void;
  /** Forgets idempotency keys, as Stripe does after a day. */
  forgetKeys(): void;
  stop(): Promise<void>;
};

type Form = Record<string, string>;
type Reply = { status: number; body: object };
type Call = { method: string; path: string; form: Form };
type State = {
  customers: Map<string, Form>;
  methods: Map<string, object[]>;
  unpaid: Map<string, number>;
  meterEvents: Map<string, Form>;
  invoiceItems: Form[];
  subscriptions: Form[];
};

export async function startFakeStripe(secretKey: string): Promise<FakeStripe> {
  const state: State = {
    ...{ customers: new Map(), methods: new Map(), unpaid: new Map(), meterEvents: new Map() },
    ...{ invoiceItems: [], subscriptions: [] },
  };
  const replies = new Map<string, { request: string; reply: Reply }>();
  const requests: string[] = [];
  let broken: number | undefined;
  let lost = 0;
  let gate = Promise.resolve();

  const replyTo = async (request: IncomingMessage): Promise<Reply> => {
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const method = request.method ?? '';
    requests.push(`${method} ${path}`);
    await gate;
    if (broken !== undefined) return failure(broken, { type: 'api_error' });
    if (request.headers.authorization !== `Bearer ${secretKey}`) {
      return failure(401, { type: 'invalid_request_error' });
    }
    const body = await text(request);
    if (method === 'POST' && !isForm(request)) return failure(400, { type: 'not_form_encoded' });
    const form = Object.fromEntries(new URLSearchParams(method === 'POST' ? body : query));
    const call = { method, path, form };
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
    if (lost > 0) {
      lost -= 1;
      request.socket.destroy();
      return;
    }
    const headers = { 'content-type': 'application/json', 'request-id': 'req_test' };
    response.writeHead(status, headers);
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    customers: state.customers,
    meterEvents: state.meterEvents,
    invoiceItems: state.invoiceItems,
    subscriptions: state.subscriptions,
    requests,
    enterPaymentMethod(customerId) {
      const id = `pm_${state.methods.size + 1}`;
      state.methods.set(customerId, [{ id, object: 'payment_method', type: 'card' }]);
    },
    removePaymentMethods(customerId) {
      state.methods.set(customerId, []);
    },
    setUnpaidInvoices(customerId, count) {
      state.unpaid.set(customerId, count);
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
    loseReplies(count) {
      lost = count;
    },
    forgetKeys() {
      replies.clear();
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Returns the header with which Stripe signs an event. */
export function signEvent(body: string, { secret, at }: { secret: string; at: Date }): string {
  const seconds = Math.floor(at.getTime() / 1000);
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${signature}`;
}

const created = (state: Form[], form: Form): Reply => {
  state.push(form);
  return { status: 200, body: { id: `x_${state.length}`, ...form } };
};
const list = (path: string, data: object[]): Reply => ({
  status: 200,
  body: { object: 'list', data, has_more: false, url: path },
});

function perform(state: State, { method, path, form }: Call): Reply {
  const { customers, methods } = state;
  if (method === 'POST' && path === '/v1/customers') {
    const id = `cus_${customers.size + 1}`;
    customers.set(id, form);
    return { status: 200, body: { id, object: 'customer', ...form } };
  }
  if (method === 'POST' && path === '/v1/billing/meter_events') return meter(state, form);
  const customer = customerOf(path, form);
  if (!customers.has(customer)) return missing('customer');
  switch (`${method} ${path}`) {
    case 'POST /v1/billing_portal/sessions': {
      const url = `https://billing.stripe.test/session/${customer}?back=${form['return_url']}`;
      return { status: 200, body: { id: 'bps_1', object: 'billing_portal.session', url } };
    }
    case `GET /v1/customers/${customer}/payment_methods`:
      return list(path, methods.get(customer) ?? []);
    case 'GET /v1/invoices':
      return list(
        path,
        Array.from({ length: state.unpaid.get(customer) ?? 0 }, (_, index) => ({
          ...{ id: `in_${index + 1}`, object: 'invoice', customer },
          ...{ status: 'open', attempt_count: 1 },
        })),
      );
    case 'POST /v1/invoiceitems':
      return created(state.invoiceItems, form);
    case 'GET /v1/subscriptions':
      return list(
        path,
        state.subscriptions.filter((one) => one['customer'] === customer),
      );
    case 'POST /v1/subscriptions':
      return created(state.subscriptions, form);
    default:
      return failure(404, { type: 'invalid_request_error' });
  }
}

function customerOf(path: string, form: Form): string {
  return /^\/v1\/customers\/([^/]+)/.exec(path)?.[1] ?? form['customer'] ?? '';
}

function meter({ customers, meterEvents }: State, form: Form): Reply {
  const identifier = form['identifier'] ?? '';
  if (!customers.has(form['payload[stripe_customer_id]'] ?? '')) return missing('customer');
  if (!/^-?\d+$/.test(form['payload[value]'] ?? '')) {
    return failure(400, { type: 'invalid_request_error', param: 'payload[value]' });
  }
  if (meterEvents.has(identifier)) {
    return failure(400, { type: 'invalid_request_error', code: 'duplicate_meter_event' });
  }
  meterEvents.set(identifier, form);
  return { status: 200, body: { object: 'billing.meter_event', identifier } };
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

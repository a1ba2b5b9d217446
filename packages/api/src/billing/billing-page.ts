import { randomUUID } from 'node:crypto';
import { readBilledOrganization } from '@gantry/db/queries/tenants/billing';
import { badRequest, CloudError } from '@gantry/model/errors';
import { z } from '@hono/zod-openapi';
import type { Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { type Deps, requireRightClock } from '../deps.ts';
import { Email, Label } from '../http/fields.ts';
import { toErrorReply } from '../http/http-errors.ts';
import { sourceIpOf } from '../http/incoming.ts';
import { MAX_BODY_BYTES } from '../http/parse-input.ts';
import type { InvoiceDesk } from '../payment-providers/provider.ts';
import { donePage, formPage, type Html, PAGE_HEADERS, refusalPage } from './billing-html.ts';

const PATH = '/billing/:token';
const FORM_TYPES = /^(application\/x-www-form-urlencoded|multipart\/form-data)\s*(;|$)/i;

const Address = z.object({
  holder: z.string().trim().pipe(Label),
  email: z.string().trim().pipe(Email),
});

/**
 * Serves the page behind our own billing links. A provider with its own page needs no page here.
 */
export function mountBillingPage(app: Hono, deps: Deps): void {
  const desk = deps.billing.invoices;
  if (!desk) return;
  const tooLarge = new CloudError(
    'request_too_large',
    `the form is larger than ${MAX_BODY_BYTES / 1024} KiB: send a smaller one`,
  );
  app.get(PATH, (c) => replyWithPage(c, deps, () => showForm(c, deps, desk)));
  app.post(
    PATH,
    bodyLimit({
      maxSize: MAX_BODY_BYTES,
      onError: (c) => replyWithPage(c, deps, () => Promise.reject(tooLarge)),
    }),
    (c) => replyWithPage(c, deps, (requestId) => acceptForm({ c, deps, desk, requestId })),
  );
}

async function showForm(c: Context, deps: Deps, desk: InvoiceDesk): Promise<Response> {
  const { name } = await organizationOf(c, deps, desk);
  return page(c, 200, formPage({ organization: name, values: {}, errors: {} }));
}

type Visit = { c: Context; deps: Deps; desk: InvoiceDesk; requestId: string };

async function acceptForm({ c, deps, desk, requestId }: Visit): Promise<Response> {
  const { id, name } = await organizationOf(c, deps, desk);
  const values = await readForm(c);
  const parsed = Address.safeParse(values);
  if (!parsed.success) {
    const { fieldErrors } = z.flattenError(parsed.error);
    const errors = { holder: fieldErrors.holder?.[0], email: fieldErrors.email?.[0] };
    const { status } = toErrorReply(badRequest([]), requestId);
    return page(c, status, formPage({ organization: name, values, errors }));
  }
  await desk.accept({
    organizationId: id,
    address: parsed.data,
    now: new Date(deps.clock.nowMs()),
    requestId,
    sourceIp: sourceIpOf(c, deps.trustedProxies),
  });
  deps.log.info({ request_id: requestId, organization_id: id }, 'payment method entered');
  return page(c, 200, donePage(name));
}

async function organizationOf(c: Context, deps: Deps, desk: InvoiceDesk) {
  requireRightClock(deps);
  const id = desk.organizationOf(c.req.param('token') ?? '');
  const organization = id === undefined ? undefined : await readBilledOrganization(deps.sql, id);
  if (id === undefined || !organization) {
    throw new CloudError(
      'forbidden',
      'This billing link is not valid, or it has expired: a link works for 15 minutes. ' +
        'Get a new one with GET /v0.1/organizations/{organization_id}/billing.',
    );
  }
  return { id, name: organization.name };
}

async function readForm(c: Context): Promise<{ holder: string; email: string }> {
  if (!FORM_TYPES.test(c.req.header('content-type') ?? '')) {
    throw new CloudError(
      'unsupported_media_type',
      'Send the form as application/x-www-form-urlencoded or multipart/form-data.',
    );
  }
  let form: FormData;
  try {
    form = await c.req.formData();
  } catch (cause) {
    throw new CloudError('bad_request', 'The form could not be read: send it again.', { cause });
  }
  const text = (name: string) => {
    const value = form.get(name);
    return typeof value === 'string' ? value : '';
  };
  return { holder: text('holder'), email: text('email') };
}

/** Runs a step of the page. An error becomes a page too. */
async function replyWithPage(
  c: Context,
  deps: Deps,
  step: (requestId: string) => Promise<Response>,
): Promise<Response> {
  const requestId = randomUUID();
  try {
    return await step(requestId);
  } catch (error) {
    const { status, body, fault } = toErrorReply(error, requestId);
    if (fault !== undefined) {
      deps.log.error({ request_id: requestId, error: fault }, 'billing page failed');
    }
    return page(c, status, refusalPage('The request failed', body.message));
  }
}

function page(c: Context, status: number, content: Html): Response | Promise<Response> {
  return c.html(content, status as 200, PAGE_HEADERS);
}

import { listDeliveries, readDelivery } from '@gantry/db/queries/webhooks/webhook-deliveries';
import { listWebhooks, readWebhook } from '@gantry/db/queries/webhooks/webhooks';
import { found } from '@gantry/model/errors';
import { z } from '@hono/zod-openapi';
import type { Access } from '../auth/authorize.ts';
import { Id, page } from '../http/fields.ts';
import { namedPage, toPageBounds } from '../http/lists/named-page.ts';
import { type AnyRoute, type Request, route } from '../http/route.ts';
import { changeWebhook, createWebhook, deleteWebhook, rotateSecret } from './change.ts';
import { enableWebhook, replayWebhook, testWebhook } from './queue.ts';
import {
  ChangeAdminWebhook,
  ChangeWebhook,
  CreateAdminWebhook,
  CreateWebhook,
  NewWebhook,
  ReplayWebhook,
  Webhook,
  WebhookDelivery,
  WebhookDeliveryPage,
  WebhookDeliveryQuery,
  WebhookPage,
  WebhookQuery,
} from './schema.ts';
import { deliveryView, webhookView } from './view.ts';

type Kind = {
  /** What the names of the routes begin with. */
  name: string;
  path: string;
  of: string;
  reads: Access;
  writes: Access;
  owner: Record<string, typeof Id>;
  Create: typeof CreateAdminWebhook;
  Change: typeof ChangeAdminWebhook;
};

type Webhooks = Request<unknown, unknown, unknown>;

/** A project's webhooks belong to it; those of operators belong to no project. */
const ownerOf = ({ scope }: Webhooks) => ({ projectId: scope.projectId || null });
const idOf = (request: Webhooks & { params: unknown }) => ({
  ...ownerOf(request),
  webhookId: (request.params as { webhook_id: string }).webhook_id,
});
const contextOf = (request: Webhooks) => {
  const { sql, deps, now } = request;
  const rules = deps.webhookRules(ownerOf(request).projectId);
  return { sql, now, secrets: deps.secrets, rules };
};

/** The same routes exist for projects and for operators. */
function routesOf({ name, path, of, reads, writes, owner, Create, Change }: Kind): AnyRoute[] {
  const OwnerParams = z.object(owner);
  const Params = z.object({ ...owner, webhook_id: Id });
  const one = `${path}/{webhook_id}`;
  return [
    route({
      id: `${name}.create`,
      method: 'post',
      path,
      summary: `Create a webhook ${of}; only this reply shows its secret`,
      access: writes,
      secretReply: true,
      params: OwnerParams,
      body: Create,
      reply: NewWebhook,
      handle: async (request) => {
        const context = contextOf(request);
        const { row, secret } = await createWebhook(context, ownerOf(request), request.body);
        return { ...webhookView(row), secret };
      },
    }),
    route({
      id: `${name}.list`,
      method: 'get',
      path,
      summary: `List webhooks ${of}`,
      access: reads,
      params: OwnerParams,
      query: WebhookQuery,
      reply: WebhookPage,
      handle: async (request) => {
        const { ids, names, tag: tags, limit } = request.query;
        const order = toPageBounds(request.query);
        const listing = { ...ownerOf(request), ids, names, tags, ...order, limit: limit + 1 };
        return namedPage(await listWebhooks(request.sql, listing), request.query, webhookView);
      },
    }),
    route({
      id: `${name}.get`,
      method: 'get',
      path: one,
      summary: `Read a webhook ${of}`,
      access: reads,
      params: Params,
      reply: Webhook,
      handle: async (request) =>
        webhookView(found(await readWebhook(request.sql, idOf(request)), 'webhook')),
    }),
    route({
      id: `${name}.change`,
      method: 'patch',
      path: one,
      summary: `Change a webhook ${of}`,
      access: writes,
      params: Params,
      body: Change,
      reply: Webhook,
      handle: async (request) =>
        webhookView(await changeWebhook(contextOf(request), idOf(request), request.body)),
    }),
    route({
      id: `${name}.delete`,
      method: 'delete',
      path: one,
      summary: `Delete a webhook ${of}; what it has not been sent is dropped`,
      access: writes,
      params: Params,
      reply: Webhook,
      handle: async (request) => webhookView(await deleteWebhook(request.sql, idOf(request))),
    }),
    route({
      id: `${name}.rotate-secret`,
      method: 'post',
      path: `${one}:rotate-secret`,
      summary:
        'Replace the secret; the old one stays valid for a day, and only this reply shows the new one',
      access: writes,
      secretReply: true,
      params: Params,
      reply: NewWebhook,
      handle: async (request) => {
        const { row, secret } = await rotateSecret(contextOf(request), idOf(request));
        return { ...webhookView(row), secret };
      },
    }),
    route({
      id: `${name}.test`,
      method: 'post',
      path: `${one}:test`,
      summary: 'Send a test message once; the delivery that it replies with shows the result',
      access: writes,
      params: Params,
      reply: WebhookDelivery,
      handle: async (request) => deliveryView(await testWebhook(request, idOf(request))),
    }),
    route({
      id: `${name}.replay`,
      method: 'post',
      path: `${one}:replay`,
      summary: 'Send the events since a time, or after an event, again',
      access: writes,
      params: Params,
      body: ReplayWebhook,
      reply: Webhook,
      handle: async (request) =>
        webhookView(await replayWebhook(request, idOf(request), request.body)),
    }),
    route({
      id: `${name}.enable`,
      method: 'post',
      path: `${one}:enable`,
      summary: 'Enable a webhook that was disabled; it continues where it was',
      access: writes,
      params: Params,
      reply: Webhook,
      handle: async (request) => webhookView(await enableWebhook(request.sql, idOf(request))),
    }),
    route({
      id: `${name}.deliveries`,
      method: 'get',
      path: `${one}/deliveries`,
      summary: 'List the deliveries of a webhook, newest first',
      access: reads,
      params: Params,
      query: WebhookDeliveryQuery,
      reply: WebhookDeliveryPage,
      handle: async (request) => {
        const { webhookId } = idOf(request);
        found(await readWebhook(request.sql, idOf(request)), 'webhook');
        const { state, event_id, resource_id, page_token: before, limit } = request.query;
        const rows = await listDeliveries(request.sql, {
          ...{ webhookId, before, limit: limit + 1, state: state ?? null },
          ...{ eventId: event_id ?? null, resourceId: resource_id ?? null },
        });
        return page(rows, limit, deliveryView);
      },
    }),
    route({
      id: `${name}.get-delivery`,
      method: 'get',
      path: `${one}/deliveries/{delivery_id}`,
      summary: 'Read a delivery of a webhook',
      access: reads,
      params: Params.extend({ delivery_id: Id }),
      reply: WebhookDelivery,
      handle: async (request) => {
        found(await readWebhook(request.sql, idOf(request)), 'webhook');
        const { webhookId } = idOf(request);
        const deliveryId = request.params['delivery_id'] ?? '';
        const row = await readDelivery(request.sql, { webhookId, deliveryId });
        return deliveryView(found(row, 'delivery'));
      },
    }),
  ];
}

export const webhookRoutes = [
  ...routesOf({
    ...{ name: 'webhooks', path: '/projects/{project_id}/webhooks', of: 'of the project' },
    reads: { level: 'project', role: 'read-only' },
    writes: { level: 'project', role: 'member' },
    ...{ owner: { project_id: Id }, Create: CreateWebhook, Change: ChangeWebhook },
  }),
  ...routesOf({
    ...{ name: 'admin-webhooks', path: '/admin/webhooks', of: 'of the operators' },
    reads: { level: 'operator', role: 'read-only' },
    writes: { level: 'operator', role: 'admin' },
    ...{ owner: {}, Create: CreateAdminWebhook, Change: ChangeAdminWebhook },
  }),
];

import type { Schemas } from '@gantry/sdk';
import type { CliContext } from '../../cli-context.ts';
import { connect, connectToProject } from '../../config/connect.ts';
import { findByName } from '../find-by-name.ts';
import { type CommonFlags, commonFlags } from '../flags.ts';

type Webhook = Schemas['Webhook'];
type WithSecret = Webhook & { secret: string };
type Delivery = Schemas['WebhookDelivery'];
type DeliveryState = Delivery['state'];

/** The flags of every command about webhooks. */
export type WebhookFlags = CommonFlags & { operator: boolean };
export const webhookFlags = {
  ...commonFlags,
  operator: {
    kind: 'boolean',
    default: false,
    brief: 'The webhooks of operators, which get the events of the whole installation',
  },
} as const;

/** The webhooks of a project, or those of operators. Commands treat both alike. */
export type Webhooks = {
  list(): PromiseLike<{ items: Webhook[] }> & AsyncIterable<Webhook>;
  create(body: Schemas['CreateAdminWebhook']): Promise<WithSecret>;
  test(webhook_id: string): Promise<Delivery>;
  replay(webhook_id: string, body: Schemas['ReplayWebhook']): Promise<Webhook>;
  enable(webhook_id: string): Promise<Webhook>;
  rotateSecret(webhook_id: string): Promise<WithSecret>;
  delete(webhook_id: string): Promise<Webhook>;
  deliveries(
    webhook_id: string,
    state: DeliveryState | undefined,
  ): PromiseLike<{ items: Delivery[] }>;
  getDelivery(webhook_id: string, delivery_id: string): Promise<Delivery>;
};

export async function connectToWebhooks(cli: CliContext, flags: WebhookFlags): Promise<Webhooks> {
  if (flags.operator) {
    const { adminWebhooks } = (await connect(cli, flags)).client;
    return {
      list: () => adminWebhooks.list({}),
      create: (body) => adminWebhooks.create({ body }),
      test: (webhook_id) => adminWebhooks.test({ webhook_id }),
      replay: (webhook_id, body) => adminWebhooks.replay({ webhook_id, body }),
      enable: (webhook_id) => adminWebhooks.enable({ webhook_id }),
      rotateSecret: (webhook_id) => adminWebhooks.rotateSecret({ webhook_id }),
      delete: (webhook_id) => adminWebhooks.delete({ webhook_id }),
      deliveries: (webhook_id, state) =>
        adminWebhooks.deliveries({ webhook_id, ...(state && { state }) }),
      getDelivery: (webhook_id, delivery_id) =>
        adminWebhooks.getDelivery({ webhook_id, delivery_id }),
    };
  }
  const { client, project_id } = await connectToProject(cli, flags);
  const { webhooks } = client;
  return {
    list: () => webhooks.list({ project_id }),
    create: ({ event_types, ...body }) => {
      const types = event_types as Schemas['CreateWebhook']['event_types'];
      return webhooks.create({
        project_id,
        body: { ...body, ...(types && { event_types: types }) },
      });
    },
    test: (webhook_id) => webhooks.test({ project_id, webhook_id }),
    replay: (webhook_id, body) => webhooks.replay({ project_id, webhook_id, body }),
    enable: (webhook_id) => webhooks.enable({ project_id, webhook_id }),
    rotateSecret: (webhook_id) => webhooks.rotateSecret({ project_id, webhook_id }),
    delete: (webhook_id) => webhooks.delete({ project_id, webhook_id }),
    deliveries: (webhook_id, state) =>
      webhooks.deliveries({ project_id, webhook_id, ...(state && { state }) }),
    getDelivery: (webhook_id, delivery_id) =>
      webhooks.getDelivery({ project_id, webhook_id, delivery_id }),
  };
}

export async function findWebhook(webhooks: Webhooks, wanted: string): Promise<Webhook> {
  return await findByName('webhook', wanted, webhooks.list());
}

/**
 * Domain events with callback ids: each subscription registers one kind of event in the daemon, for
 * one domain or for all. The daemon returns an id and puts it into each message.
 */
import type { Connection } from './connection.ts';
import * as messages from './generated/event-messages.ts';
import {
  connectDomainEventCallbackDeregisterAny,
  connectDomainEventCallbackRegisterAny,
} from './generated/procedures.ts';
import type { Domain } from './generated/types.ts';
import type { EventMessage } from './procedure.ts';

export type DomainEvent<Payload> = {
  /** virDomainEventID */
  id: number;
  message: EventMessage<{ callbackId: number }>;
  payload: (message: never) => Payload;
};

/** virDomainEventType, by its number. */
const LIFECYCLE = [
  ...(['defined', 'undefined', 'started', 'suspended', 'resumed', 'stopped'] as const),
  ...(['shutdown', 'pmSuspended', 'crashed'] as const),
] as const;

/** virConnectDomainEventAgentLifecycleState */
const AGENT_CONNECTED = 1;

export type LifecycleEvent = (typeof LIFECYCLE)[number];
export type AgentState = 'connected' | 'disconnected';

/** Defines a kind that is not in DOMAIN_EVENT, with a message of generated/event-messages.ts. */
export function domainEvent<Message extends { callbackId: number }, Payload>(kind: {
  id: number;
  message: EventMessage<Message>;
  payload: (message: Message) => Payload;
}): DomainEvent<Payload> {
  return kind;
}

/** The kinds of events. `detail` and `reason` are numbers that libvirt's headers explain. */
export const DOMAIN_EVENT = {
  lifecycle: domainEvent({
    id: 0,
    message: messages.domainEventCallbackLifecycle,
    payload: ({ msg: { dom, event, detail } }) => ({
      domain: dom,
      /** Undefined for a number that this version does not know. */
      event: LIFECYCLE[event],
      detail,
    }),
  }),
  reboot: domainEvent({
    id: 1,
    message: messages.domainEventCallbackReboot,
    payload: ({ msg }) => ({ domain: msg.dom }),
  }),
  ioError: domainEvent({
    id: 6,
    message: messages.domainEventCallbackIoErrorReason,
    payload: ({ msg: { dom, srcPath, devAlias, action, reason } }) => ({
      domain: dom,
      sourcePath: srcPath,
      alias: devAlias,
      action,
      reason,
    }),
  }),
  deviceRemoved: domainEvent({
    id: 15,
    message: messages.domainEventCallbackDeviceRemoved,
    payload: ({ msg }) => ({ domain: msg.dom, alias: msg.devAlias }),
  }),
  blockJob: domainEvent({
    id: 16,
    message: messages.domainEventBlockJob2,
    payload: ({ dom, dst, type, status }) => ({ domain: dom, target: dst, type, status }),
  }),
  agentLifecycle: domainEvent({
    id: 18,
    message: messages.domainEventCallbackAgentLifecycle,
    payload: ({ dom, state, reason }) => ({
      domain: dom,
      state: (state === AGENT_CONNECTED ? 'connected' : 'disconnected') as AgentState,
      reason,
    }),
  }),
  deviceAdded: domainEvent({
    id: 19,
    message: messages.domainEventCallbackDeviceAdded,
    payload: ({ dom, devAlias }) => ({ domain: dom, alias: devAlias }),
  }),
  deviceRemovalFailed: domainEvent({
    id: 22,
    message: messages.domainEventCallbackDeviceRemovalFailed,
    payload: ({ dom, devAlias }) => ({ domain: dom, alias: devAlias }),
  }),
  metadataChange: domainEvent({
    id: 23,
    message: messages.domainEventCallbackMetadataChange,
    payload: ({ dom, type, nsuri }) => ({ domain: dom, type, uri: nsuri }),
  }),
  blockThreshold: domainEvent({
    id: 24,
    message: messages.domainEventBlockThreshold,
    payload: ({ dom, dev, path, threshold, excess }) => ({
      domain: dom,
      device: dev,
      path,
      threshold,
      excess,
    }),
  }),
} as const;

export type Subscription = {
  /** Stops the subscription at once, and in the daemon if the connection is open. Never throws. */
  stop: () => Promise<void>;
};

/** Resolves when the daemon has confirmed. Every later event reaches the listener. */
export async function subscribe<Payload>(
  connection: Connection,
  event: DomainEvent<Payload>,
  options: { listener: (payload: Payload) => void; domain?: Domain | undefined },
): Promise<Subscription> {
  const { listener, domain = null } = options;
  /** Messages that arrived before the reply with their subscription's id. */
  const early: { callbackId: number }[] = [];
  let callbackId: number | undefined;
  const forward = (message: { callbackId: number }) => {
    if (callbackId === undefined) early.push(message);
    else if (message.callbackId === callbackId) listener(event.payload(message as never));
  };
  const detach = connection.onMessage(event.message, forward);
  try {
    const args = { eventId: event.id, dom: domain };
    const reply = await connection.call(connectDomainEventCallbackRegisterAny, args);
    callbackId = reply.callbackId;
  } catch (error) {
    detach();
    throw error;
  }
  for (const message of early) forward(message);
  const registered = { callbackId };
  return {
    stop: async () => {
      detach();
      await connection.call(connectDomainEventCallbackDeregisterAny, registered).catch(() => {
        // Either the connection has ended, and with it the registration, or the id does not exist.
      });
    },
  };
}

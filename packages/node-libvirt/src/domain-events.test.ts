import { afterEach, expect, it } from 'vitest';
import { DOMAIN_EVENT, subscribe } from './domain-events.ts';
import { ConnectionClosedError } from './errors.ts';
import {
  connectDomainEventCallbackRegisterAnyArgsCodec,
  domainEventCallbackDeviceRemovedMsgCodec,
  domainEventCallbackLifecycleMsgCodec,
} from './generated/codecs.ts';
import {
  domainEventCallbackDeviceRemoved,
  domainEventCallbackLifecycle,
} from './generated/event-messages.ts';
import {
  connectDomainEventCallbackDeregisterAny as deregisterAny,
  connectDomainEventCallbackRegisterAny as registerAny,
} from './generated/procedures.ts';
import { encodePacket, type Packet } from './packet.ts';
import { connectToPeer, failureOf, type Replies, replyOf } from './testing/peer.ts';
import { XdrDecoder, XdrEncoder } from './xdr/xdr.ts';

const DOMAIN = { name: 'vm', uuid: Buffer.alloc(16, 1), id: 1 };
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function connectTo(replies: Replies) {
  const connected = await connectToPeer(replies);
  cleanups.push(connected.close);
  return connected;
}

function lifecycleOf(call: Packet, callbackId: number, event: number): Buffer {
  const body = new XdrEncoder();
  const msg = { dom: DOMAIN, event, detail: 1 };
  domainEventCallbackLifecycleMsgCodec.write(body, { callbackId, msg });
  const procedure = domainEventCallbackLifecycle.number;
  return encodePacket({ ...call, type: 2, serial: 0, procedure, body: body.bytes() });
}

it('a subscription gets its own typed events and no others', async () => {
  let lastId = 0;
  const { connection, peer } = await connectTo({
    [registerAny.number]: (call, socket) => {
      lastId += 1;
      socket.write(replyOf(registerAny, call, { callbackId: lastId }));
      if (lastId < 2) return;
      const events = [lifecycleOf(call, 1, 2), lifecycleOf(call, 2, 5), lifecycleOf(call, 9, 0)];
      socket.write(Buffer.concat(events));
    },
  });
  const seen: unknown[] = [];
  for (const name of ['first', 'second']) {
    const listener = (payload: object) => seen.push({ name, ...payload });
    await subscribe(connection, DOMAIN_EVENT.lifecycle, { listener, domain: DOMAIN });
  }
  await expect.poll(() => seen.length).toBe(2);
  expect(seen).toEqual([
    { name: 'first', domain: DOMAIN, event: 'started', detail: 1 },
    { name: 'second', domain: DOMAIN, event: 'stopped', detail: 1 },
  ]);
  const args = new XdrDecoder(peer.packets.at(-1)?.body ?? Buffer.alloc(0));
  expect(connectDomainEventCallbackRegisterAnyArgsCodec.read(args)).toEqual({
    eventId: 0,
    dom: DOMAIN,
  });
});

it('an event that arrives before the reply to its subscription is not lost', async () => {
  const { connection } = await connectTo({
    [registerAny.number]: (call, socket) => {
      const reply = replyOf(registerAny, call, { callbackId: 7 });
      socket.write(Buffer.concat([lifecycleOf(call, 7, 6), lifecycleOf(call, 8, 5), reply]));
    },
  });
  const seen: unknown[] = [];
  await subscribe(connection, DOMAIN_EVENT.lifecycle, {
    listener: ({ event }) => seen.push(event),
  });
  await expect.poll(() => seen).toEqual(['shutdown']);
});

it('a stopped subscription gets no more events and is removed from the daemon', async () => {
  const { connection, peer } = await connectTo({
    [registerAny.number]: (call, socket) =>
      socket.write(replyOf(registerAny, call, { callbackId: 3 })),
    [deregisterAny.number]: (call, socket) => {
      const body = new XdrEncoder();
      const msg = { dom: DOMAIN, devAlias: 'disk1' };
      domainEventCallbackDeviceRemovedMsgCodec.write(body, { callbackId: 3, msg });
      const procedure = domainEventCallbackDeviceRemoved.number;
      socket.write(encodePacket({ ...call, type: 2, serial: 0, procedure, body: body.bytes() }));
      socket.write(replyOf(deregisterAny, call, undefined));
    },
  });
  const seen: unknown[] = [];
  const listener = (payload: unknown) => seen.push(payload);
  const subscription = await subscribe(connection, DOMAIN_EVENT.deviceRemoved, { listener });
  await subscription.stop();
  expect(seen).toEqual([]);
  expect(peer.packets.at(-1)?.procedure).toBe(deregisterAny.number);
});

it('a refused subscription fails, and one of a closed connection can be stopped', async () => {
  let refuse = true;
  const { connection } = await connectTo({
    [registerAny.number]: (call, socket) =>
      socket.write(refuse ? failureOf(call) : replyOf(registerAny, call, { callbackId: 1 })),
  });
  const listener = () => undefined;
  const attempt = subscribe(connection, DOMAIN_EVENT.reboot, { listener });
  await expect(attempt).rejects.toThrow('Domain not found');
  refuse = false;
  const subscription = await subscribe(connection, DOMAIN_EVENT.reboot, { listener });
  connection.destroy(new ConnectionClosedError('gone'));
  await subscription.stop();
});

import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message as it arrived. */
export type SinkMessage = {
  id: string;
  headers: Record<string, string>;
  body: string;
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages freely
  data: any;
  /** Whether the sink replied that it accepts the message. */
  accepted: boolean;
};

/** What a sink does with a message: reply with a status, close the connection, or not reply at all. */
export type SinkReply = number | 'drop' | 'hang';

/** A receiver of webhooks on this machine. */
export type WebhookSink = {
  url: string;
  /** All messages in the order in which they arrived, also those that were not accepted. */
  messages: SinkMessage[];
  /** Decides about messages from now on. */
  reply(decide: (message: SinkMessage) => SinkReply): void;
  stop(): void;
};

export async function startWebhookSink(): Promise<WebhookSink> {
  let decide: (message: SinkMessage) => SinkReply = () => 200;
  const messages: SinkMessage[] = [];
  const server = http.createServer(async (request, reply) => {
    const message = await readMessage(request);
    const decided = decide(message);
    message.accepted = decided === 200;
    messages.push(message);
    if (decided === 'drop') request.socket.destroy();
    else if (decided !== 'hang') reply.writeHead(decided).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    messages,
    reply(next) {
      decide = next;
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function readMessage(request: IncomingMessage): Promise<SinkMessage> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const body = Buffer.concat(parts).toString();
  const headers = request.headers as Record<string, string>;
  const { type, data } = JSON.parse(body) as { type: string; data: unknown };
  return { id: headers['webhook-id'] ?? '', headers, body, type, data, accepted: false };
}

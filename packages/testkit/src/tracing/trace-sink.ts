import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A span as it arrived. */
export type ReceivedSpan = {
  service: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startMs: number;
  endMs: number;
  attributes: Record<string, string>;
  links?: { traceId: string; spanId: string }[];
  status?: { code: number; message: string };
};

/** A collector of traces on this machine: OTLP over HTTP, as JSON. */
export type TraceSink = {
  /** The value of OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  spans: ReceivedSpan[];
  /** The headers of the last request. */
  headers(): http.IncomingHttpHeaders;
  /** The status of replies from now on. */
  reply(status: number): void;
  stop(): void;
};

// biome-ignore lint/suspicious/noExplicitAny: the sender is what the test examines
type Json = any;

export async function startTraceSink(): Promise<TraceSink> {
  const spans: ReceivedSpan[] = [];
  let status = 200;
  let headers: http.IncomingHttpHeaders = {};
  const server = http.createServer(async (request, reply) => {
    const body = JSON.parse(await text(request));
    headers = request.headers;
    const isKnown = request.method === 'POST' && request.url === '/v1/traces';
    if (isKnown && status === 200) spans.push(...spansOf(body));
    reply.writeHead(isKnown ? status : 404, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers: () => headers,
    reply(next) {
      status = next;
    },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function spansOf({ resourceSpans }: Json): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }: Json) => {
    const service = attributesOf(resource.attributes)['service.name'];
    return scopeSpans.flatMap(({ spans }: Json) =>
      spans.map(({ startTimeUnixNano, endTimeUnixNano, attributes, ...span }: Json) => ({
        ...{ ...span, service, attributes: attributesOf(attributes) },
        ...{ startMs: Number(startTimeUnixNano) / 1e6, endMs: Number(endTimeUnixNano) / 1e6 },
      })),
    );
  });
}

function attributesOf(list: Json[]): Record<string, string> {
  return Object.fromEntries(list.map(({ key, value }) => [key, String(Object.values(value)[0])]));
}

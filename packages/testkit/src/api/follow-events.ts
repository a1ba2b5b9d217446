/** A client of an event stream, as a browser or the CLI is one. */

// biome-ignore lint/suspicious/noExplicitAny: tests look into events freely
export type StreamedEvent = { id: string; type: string; data: any };

export type Following = {
  status: number;
  headers: Headers;
  /** Everything that arrived so far. */
  events: StreamedEvent[];
  text(): string;
  /** What the client would send as `Last-Event-ID`. Heartbeats move it on. */
  lastEventId(): string;
  /** Resolves when the server has closed the stream. */
  ended: Promise<void>;
  close(): void;
};

type FollowOptions = { bearer: string; lastEventId?: string };

/** Opens the stream at a URL. If the server refuses it, `text` has the body of the reply. */
export async function followEvents(
  url: string,
  { bearer, lastEventId }: FollowOptions,
): Promise<Following> {
  const aborting = new AbortController();
  const response = await fetch(url, {
    headers: {
      accept: 'text/event-stream',
      authorization: `Bearer ${bearer}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
    signal: aborting.signal,
  });
  const events: StreamedEvent[] = [];
  let text = '';
  let parsed = 0;
  let lastId = lastEventId ?? '';
  const parse = () => {
    for (let end = text.indexOf('\n\n', parsed); end >= 0; end = text.indexOf('\n\n', parsed)) {
      const fields = fieldsOf(text.slice(parsed, end));
      parsed = end + 2;
      lastId = fields['id'] ?? lastId;
      if (fields['data'] === undefined) continue;
      events.push({ id: lastId, type: fields['event'] ?? '', data: JSON.parse(fields['data']) });
    }
  };
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      parse();
    }
  };
  return {
    status: response.status,
    headers: response.headers,
    events,
    text: () => text,
    lastEventId: () => lastId,
    // A killed server resets the connection.
    ended: read().catch(() => {}),
    close: () => aborting.abort(),
  };
}

function fieldsOf(block: string): Record<string, string> {
  const lines = block.split('\n').filter((line) => !line.startsWith(':'));
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
}

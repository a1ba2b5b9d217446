import type { Sql } from '@gantry/db/connect';
import { insertEvents } from '@gantry/db/queries/operations/events';
import { readStreamEvents, type StreamPosition } from '@gantry/db/queries/operations/stream-events';
import { newId } from '@gantry/model/ids';
import { createTestDatabase, type TestDatabase } from '@gantry/testkit/database/test-database';
import { addProject } from '@gantry/testkit/make/tenants';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { EventFeed } from './event-feed.ts';
import { EventStream } from './event-stream.ts';
import type { StreamId } from './stream-id.ts';

let database: TestDatabase;
let projectId: string;
let statements = 0;
let counting: Sql;

beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await addProject(database.sql);
  // Parts of statements are made by the same function, and do not begin with these words.
  counting = new Proxy(database.sql, {
    apply(target, self, args: [TemplateStringsArray]) {
      if (/^\s*(select|with)\b/.test(args[0][0] ?? '')) statements += 1;
      return Reflect.apply(target, self, args);
    },
  });
});
afterAll(() => database.drop());

const openStream = (feed: EventFeed, resumeFrom: StreamId | null = null) => {
  const stream = new EventStream({
    ...{ projectId, resumeFrom, disconnect: () => {} },
    onClose: () => feed.remove(stream),
  });
  feed.add(stream);
  return stream;
};
const happen = async () => {
  const resourceId = newId();
  await insertEvents(database.sql, [
    { projectId, resourceType: 'vm', resourceId, type: 'vm_crashed', message: '' },
  ]);
  return resourceId;
};
/** Reads the stream until it contains the text, and closes it. */
const readUntil = async ({ body }: EventStream, end: string) => {
  const reader = body.getReader();
  let text = '';
  while (!text.includes(end)) {
    const { value } = await reader.read();
    text += new TextDecoder().decode(value);
  }
  await reader.cancel();
  return text;
};
/** Waits until transactions of other tests do not hold events back. */
const untilPassed = async (after: StreamPosition, count: number) =>
  await expect
    .poll(async () => {
      const all = { after, projectIds: [projectId], limit: 10_000 };
      return (await readStreamEvents(database.sql, all)).events.length;
    })
    .toBe(count);
const now = async (): Promise<StreamId> => {
  const state = await readStreamEvents(database.sql, { after: null, projectIds: null, limit: 1 });
  return { era: state.era, position: { xid: state.horizon, number: 0n } };
};

it('a thousand streams of a project cost one statement', async () => {
  const feed = new EventFeed(counting);
  const { position } = await now();
  const streams = Array.from({ length: 1_000 }, () => openStream(feed));
  await feed.advance();
  const resourceId = await happen();
  await untilPassed(position, 1);
  statements = 0;
  await feed.advance();
  expect(statements).toBe(1);
  for (const stream of streams) await readUntil(stream, resourceId);
});

it('a thousand streams that continue at different events cost two statements', async () => {
  const feed = new EventFeed(counting);
  const start = await now();
  for (let count = 0; count < 100; count += 1) await happen();
  const last = await happen();
  await untilPassed(start.position, 101);
  const all = { after: start.position, projectIds: [projectId], limit: 1_000 };
  const { events } = await readStreamEvents(database.sql, all);
  const streams = Array.from({ length: 1_000 }, (_, index) => {
    const position = events[index % 100]?.position ?? start.position;
    return openStream(feed, { era: start.era, position });
  });
  statements = 0;
  await feed.advance();
  expect(statements).toBe(2);
  for (const [index, stream] of streams.entries()) {
    const text = await readUntil(stream, last);
    expect(text.match(/event: event/g)).toHaveLength(100 - (index % 100));
  }
});

it('without streams nothing is read', async () => {
  const feed = new EventFeed(counting);
  statements = 0;
  await feed.advance();
  openStream(feed).cutOff();
  await feed.advance();
  expect(statements).toBe(0);
});

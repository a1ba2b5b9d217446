import type { Log } from '@gantry/daemon/log';
import { startLoop } from '@gantry/daemon/loop';
import type { Sql } from '@gantry/db/connect';
import { readProjectScopes } from '@gantry/db/queries/tenants/access';
import { CloudError } from '@gantry/model/errors';
import { type Access, authorize } from '../auth/authorize.ts';
import type { Caller, Callers } from '../auth/caller.ts';
import { TooManyRequests } from '../base/rate-limit.ts';
import { EventFeed } from './event-feed.ts';
import { EventStream } from './event-stream.ts';
import type { StreamId } from './stream-id.ts';

export type StreamTimings = {
  /** The pause between two reads while streams are open. */
  pollMs: number;
  heartbeatMs: number;
  /** How often the rights of all streams are checked. */
  checkMs: number;
  /** How long a client may leave a full stream unread. */
  stalledMs: number;
};

export const STREAM_TIMINGS: StreamTimings = {
  pollMs: 200,
  heartbeatMs: 15_000,
  checkMs: 5_000,
  stalledMs: 30_000,
};

/** Of one api process. A stream needs a socket and some kilobytes. */
const MAX_STREAMS = 10_000;
const RETRY_AFTER_S = 10;
/** While there are no streams, nothing is read. A new stream ends the pause. */
const NO_STREAMS_PAUSE_MS = 60_000;

export type NewStream = {
  /** Whose share of the streams it uses: an organization or an operator. */
  sharer: string;
  bearer: string;
  access: Access;
  /** The project whose events it has; null: everything, for operators. */
  projectId: string | null;
  resumeFrom: StreamId | null;
  disconnect: () => void;
};

export type EventStreams = {
  /** Returns the body of the reply. Throws if the sharer has too many streams. */
  open(stream: NewStream): ReadableStream<Uint8Array>;
  /** How many are open now. */
  count(): number;
  /** Ends all streams. Their clients continue with another process. */
  stop(): Promise<void>;
};

type Options = {
  sql: Sql;
  log: Log;
  callers: Callers;
  /** How many streams an organization may have open in this process. */
  maxPerSharer: number;
  timings?: StreamTimings;
};

/** The event streams of this process. They share one poll of the database and one check of rights. */
export function createEventStreams({
  sql,
  log,
  callers,
  maxPerSharer,
  timings = STREAM_TIMINGS,
}: Options): EventStreams {
  const feed = new EventFeed(sql);
  const streams = new Map<EventStream, NewStream>();
  const counts = new Map<string, number>();
  let isStopped = false;
  const pause = (ms: number) => () => (streams.size > 0 ? ms : NO_STREAMS_PAUSE_MS);
  const polling = startLoop({
    name: 'event-streams',
    everyMs: pause(timings.pollMs),
    log,
    body: async () => {
      if (await feed.advance()) polling.nudge();
    },
  });
  const checking = startLoop({
    name: 'event-stream-rights',
    everyMs: timings.checkMs,
    log,
    body: async () => {
      for (const stream of await findUnauthorized({ sql, callers, streams })) {
        stream.end('rights_ended');
      }
    },
  });
  const beating = setInterval(() => {
    for (const stream of streams.keys()) stream.beat();
  }, timings.heartbeatMs);
  const cutting = setInterval(() => {
    for (const stream of streams.keys()) {
      if (stream.isStalled(timings.stalledMs)) stream.cutOff();
    }
  }, timings.stalledMs / 2);

  return {
    count: () => streams.size,
    open(opened) {
      const { sharer, projectId, resumeFrom, disconnect } = opened;
      const count = counts.get(sharer) ?? 0;
      if (count >= maxPerSharer)
        throw new TooManyRequests(RETRY_AFTER_S, { what: 'open event streams', of: ` (${count})` });
      if (isStopped || streams.size >= MAX_STREAMS)
        throw new CloudError(
          'unavailable',
          'no event stream can be opened here: try again shortly',
        );
      const stream = new EventStream({
        ...{ projectId, resumeFrom, disconnect },
        onClose: () => {
          feed.remove(stream);
          if (!streams.delete(stream)) return;
          const left = (counts.get(sharer) ?? 1) - 1;
          if (left === 0) counts.delete(sharer);
          else counts.set(sharer, left);
        },
      });
      counts.set(sharer, count + 1);
      streams.set(stream, opened);
      feed.add(stream);
      polling.nudge();
      return stream.body;
    },
    async stop() {
      isStopped = true;
      clearInterval(beating);
      clearInterval(cutting);
      for (const stream of streams.keys()) stream.end('stopping');
      await Promise.all([polling.stop(), checking.stop()]);
    },
  };
}

/** Returns the streams whose bearer has expired or was revoked, or has lost the right to its events. */
async function findUnauthorized({
  sql,
  callers,
  streams,
}: {
  sql: Sql;
  callers: Callers;
  streams: ReadonlyMap<EventStream, NewStream>;
}): Promise<EventStream[]> {
  const checked = [...streams];
  if (checked.length === 0) return [];
  const bearers = new Set(checked.map(([, { bearer }]) => bearer));
  const projectIds = new Set(checked.flatMap(([, { projectId }]) => projectId ?? []));
  const [known, scopes] = await Promise.all([
    callers.recallAll([...bearers]),
    projectIds.size > 0 ? readProjectScopes(sql, [...projectIds]) : [],
  ]);
  const scopeOf = new Map(scopes.map((scope) => [scope.project_id, scope]));
  const lookups = { ...callers, projectScope: async (id: string) => scopeOf.get(id) };
  const isAllowed = await Promise.all(
    checked.map(([, stream]) => mayFollow(stream, known.get(stream.bearer), lookups)),
  );
  return checked.flatMap(([stream], index) => (isAllowed[index] ? [] : [stream]));
}

async function mayFollow(
  { access, projectId }: NewStream,
  caller: Caller | undefined,
  callers: Callers,
): Promise<boolean> {
  if (!caller) return false;
  if (projectId !== null && !(await callers.projectScope(projectId))) return false;
  const params = projectId === null ? {} : { project_id: projectId };
  return await authorize({ access, caller, params, callers }).then(
    () => true,
    (error) => {
      if (error instanceof CloudError) return false;
      throw error;
    },
  );
}

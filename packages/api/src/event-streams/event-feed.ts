import type { Queryable } from '@gantry/db/connect';
import {
  readMissedEvents,
  readStreamEvents,
  type StreamEventRow,
  type StreamPosition,
  type StreamState,
} from '@gantry/db/queries/operations/stream-events';
import { type EventStream, type RenderedEvent, renderEvent } from './event-stream.ts';
import { isAfter } from './stream-id.ts';

/** How many events one statement reads, for all live streams together. */
const LIVE_EVENTS = 1_000;
/** How many groups of streams catch up at the same time, and how many events a group gets at once. */
const MISSED_GROUPS = 20;
const MISSED_EVENTS = 200;

/** Streams of the same project get the same events; the key of operators' streams is null. */
type Audience = string | null;

/**
 * Reads the events for all streams of this process.
 *
 * 1. One statement reads what happened since the last one, and every live stream gets its part of it.
 * 2. Streams that are new begin at this point, unless they continue after an event that their client has.
 * 3. If streams are behind, because they continue or because their client reads slowly, one more statement
 *    reads what they miss. Streams of one project share what is read. A stream that has reached the live
 *    ones becomes one of them.
 *
 * Nothing is kept here but positions. If this process is killed, another one continues each stream from
 * the id that its client has.
 */
export class EventFeed {
  readonly #sql: Queryable;
  readonly #joining = new Set<EventStream>();
  readonly #live = new Map<Audience, Set<EventStream>>();
  readonly #behind = new Set<EventStream>();
  #era = '';
  /** What live streams have; null before the first read, and after a time without streams. */
  #position: StreamPosition | null = null;

  constructor(sql: Queryable) {
    this.#sql = sql;
  }

  add(stream: EventStream): void {
    this.#joining.add(stream);
  }

  remove(stream: EventStream): void {
    this.#joining.delete(stream);
    this.#behind.delete(stream);
    const live = this.#live.get(stream.projectId);
    live?.delete(stream);
    if (live?.size === 0) this.#live.delete(stream.projectId);
  }

  /** Reads once and sends. Returns whether more can be read at once. Without streams it reads nothing. */
  async advance(): Promise<boolean> {
    if (this.#joining.size + this.#live.size + this.#behind.size === 0) {
      this.#position = null;
      return false;
    }
    const { events, ...state } = await readStreamEvents(this.#sql, {
      after: this.#position,
      projectIds: this.#live.has(null) ? null : [...this.#live.keys()].filter((id) => id !== null),
      limit: LIVE_EVENTS,
    });
    const last = events.at(-1);
    const isFull = last !== undefined && events.length === LIVE_EVENTS;
    const position = isFull ? last.position : { xid: state.horizon, number: 0n };
    if (this.#isBroken(state)) this.#restart();
    else this.#sendLive(events, { era: state.era, position });
    this.#era = state.era;
    this.#position = position;
    this.#admit(state, position);
    const hasMore = await this.#catchUp(state, position);
    return isFull || hasMore;
  }

  /** Whether live streams cannot go on: the database has another history, or events were removed. */
  #isBroken({ era, since }: StreamState): boolean {
    if (this.#position === null) return false;
    return era !== this.#era || this.#position.xid < since;
  }

  /** All streams join again with what they have, which cannot be continued. */
  #restart(): void {
    const streams = [...[...this.#live.values()].flatMap((live) => [...live]), ...this.#behind];
    this.#live.clear();
    this.#behind.clear();
    for (const stream of streams) {
      stream.resumeFrom = { era: this.#era, position: stream.position };
      this.#joining.add(stream);
    }
  }

  #sendLive(
    events: readonly StreamEventRow[],
    { era, position }: { era: string; position: StreamPosition },
  ): void {
    const delayed = new Set<EventStream>();
    for (const event of events) {
      for (const audience of new Set([event.projectId, null])) {
        const streams = this.#live.get(audience);
        if (!streams) continue;
        const rendered = renderEvent(era, event, { forOperators: audience === null });
        for (const stream of streams) {
          if (!delayed.has(stream) && !sendNew(stream, rendered)) delayed.add(stream);
        }
      }
    }
    for (const stream of delayed) {
      this.remove(stream);
      this.#behind.add(stream);
    }
    for (const streams of this.#live.values()) {
      for (const stream of streams) {
        if (isAfter(position, stream.position)) stream.reach(position);
      }
    }
  }

  #admit({ era, since, horizon }: StreamState, position: StreamPosition): void {
    const ahead = { xid: horizon, number: 0n };
    for (const stream of this.#joining) {
      const id = stream.resumeFrom;
      // An id from after the horizon was not handed out in this history.
      const isKnown =
        id !== null && id.era === era && id.position.xid >= since && !isAfter(id.position, ahead);
      if (isKnown) stream.continueFrom(id);
      else stream.begin(id === null ? 'ready' : 'reset', { era, position });
      this.#joining.delete(stream);
      if (isAfter(position, stream.position)) this.#behind.add(stream);
      else this.#addLive(stream);
    }
  }

  #addLive(stream: EventStream): void {
    const live = this.#live.get(stream.projectId) ?? new Set();
    this.#live.set(stream.projectId, live.add(stream));
  }

  async #catchUp({ era, since }: StreamState, upTo: StreamPosition): Promise<boolean> {
    const groups = new Map<Audience, EventStream[]>();
    for (const stream of this.#behind) {
      if (stream.position.xid < since) {
        this.#behind.delete(stream);
        stream.begin('reset', { era, position: upTo });
        this.#addLive(stream);
        continue;
      }
      const group = groups.get(stream.projectId) ?? [];
      if (stream.hasRoom && (group.length > 0 || groups.size < MISSED_GROUPS))
        groups.set(stream.projectId, [...group, stream]);
    }
    if (groups.size === 0) return false;
    const missed = await readMissedEvents(this.#sql, {
      ranges: [...groups].map(([projectId, streams]) => ({ projectId, after: lowest(streams) })),
      upTo,
      limit: MISSED_EVENTS,
    });
    for (const [index, [audience, streams]] of [...groups].entries()) {
      const events = missed[index] ?? [];
      const rendered = events.map((event) =>
        renderEvent(era, event, { forOperators: audience === null }),
      );
      const isComplete = events.length < MISSED_EVENTS;
      for (const stream of streams) this.#sendMissed(stream, rendered, isComplete ? upTo : null);
    }
    return [...this.#behind].some((stream) => stream.hasRoom);
  }

  /** A stream that has got everything is live. The others go to the end, so that every group gets a turn. */
  #sendMissed(
    stream: EventStream,
    events: readonly RenderedEvent[],
    reached: StreamPosition | null,
  ): void {
    // The client may have gone while the events were read.
    if (!this.#behind.delete(stream)) return;
    const hasAll = events.every((event) => sendNew(stream, event));
    if (!hasAll || reached === null) {
      this.#behind.add(stream);
      return;
    }
    stream.reach(reached);
    this.#addLive(stream);
  }
}

/** Sends an event unless the client has it. Returns false if the client has too much to read already. */
function sendNew(stream: EventStream, event: RenderedEvent): boolean {
  return !isAfter(event.position, stream.position) || stream.send(event);
}

function lowest(streams: readonly EventStream[]): StreamPosition {
  return streams
    .map(({ position }) => position)
    .reduce((least, position) => (isAfter(least, position) ? position : least));
}

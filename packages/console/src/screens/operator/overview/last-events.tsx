import type { StreamedEvent } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useStreamedEvents } from '../../../api/event-stream.ts';
import { Panel } from '../../../components/panel.tsx';
import { RelativeTime } from '../../../components/relative-time.tsx';
import { describeEvent, type EventLine } from './describe-event.ts';
import { lastEvents } from './overview-queries.ts';

const SHOWN = 12;

/** What happened lately: incidents from before the page was opened, then everything that the stream sends. */
export function LastEvents() {
  const { data: incidents = [] } = useQuery(lastEvents());
  const [live, setLive] = useState<EventLine[]>([]);
  useStreamedEvents((event: StreamedEvent) => {
    const line = describeEvent(event);
    if (line) setLive((before) => [line, ...before].slice(0, SHOWN));
  });
  const seen = new Set(live.map(({ id }) => id));
  const earlier = incidents
    .map(({ id, message, created_at }) => ({ id, text: message, at: created_at }))
    .filter(({ id }) => !seen.has(id));
  const lines = [...live, ...earlier].slice(0, SHOWN);
  return (
    <Panel title="Last events">
      {lines.length === 0 && <p className="text-muted">Nothing has happened yet.</p>}
      <ol aria-live="polite" className="flex flex-col divide-y divide-line">
        {lines.map(({ id, text, at }) => (
          <li key={id} className="flex justify-between gap-3 py-1.5 first:pt-0 last:pb-0">
            <span className="min-w-0 break-words">{text}</span>
            <span className="shrink-0 text-sm text-muted">
              <RelativeTime at={at} />
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}

import type { Schemas } from '@gantry/sdk';
import { Badge, type Tone } from '../../../components/badge.tsx';
import { Panel } from '../../../components/panel.tsx';
import { RelativeTime } from '../../../components/relative-time.tsx';
import { failureOf, operationLabel } from '../../../format/operation.ts';

type Operation = Schemas['Operation'];
type Event = Schemas['Event'];
type Entry = { id: string; at: string; title: string; tone: Tone; text: string };

const TONES: Record<Operation['state'], Tone> = {
  IN_PROGRESS: 'busy',
  SUCCEEDED: 'good',
  FAILED: 'bad',
};
const GOOD_NEWS: Event['type'][] = ['vm_reachable', 'vm_restored', 'vm_organization_resumed'];
const SHOWN = 20;

/** What people asked for and what happened without a request, newest first. */
export function VmTimeline({ operations, events }: { operations: Operation[]; events: Event[] }) {
  const entries = [...operations.map(ofOperation), ...events.map(ofEvent)]
    .sort((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, SHOWN);
  return (
    <Panel title="Timeline">
      <ol className="flex flex-col gap-2.5">
        {entries.map(({ id, at, title, tone, text }) => (
          <li key={id}>
            <div className="flex items-baseline justify-between gap-3">
              <Badge tone={tone}>{title}</Badge>
              <span className="text-sm text-muted">
                <RelativeTime at={at} />
              </span>
            </div>
            {text !== '' && <p className="mt-0.5 pl-3.5 text-sm text-muted">{text}</p>}
          </li>
        ))}
      </ol>
      {entries.length === 0 && <p className="text-muted">Nothing has happened yet.</p>}
    </Panel>
  );
}

function ofOperation(operation: Operation): Entry {
  return {
    id: operation.operation_id,
    at: operation.started_at,
    title: operationLabel(operation),
    tone: TONES[operation.state],
    text: failureOf(operation),
  };
}

function ofEvent({ id, type, message, created_at }: Event): Entry {
  const title = type.replace(/^vm_/, '').replaceAll('_', ' ');
  return {
    ...{ id, at: created_at, text: message },
    title: title.charAt(0).toUpperCase() + title.slice(1),
    tone: GOOD_NEWS.includes(type) ? 'good' : 'warn',
  };
}

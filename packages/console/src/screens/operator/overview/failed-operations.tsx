import type { Schemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Panel } from '../../../components/panel.tsx';
import { RelativeTime } from '../../../components/relative-time.tsx';
import { failedOperations } from './overview-queries.ts';

type Operation = Schemas['AdminOperation'];

/** The words for what a tenant asked for. */
const NAMES: Record<Operation['metadata']['operation_name'], string> = {
  CREATE: 'Creating',
  UPDATE: 'Changing',
  DELETE: 'Deleting',
  START: 'Starting',
  STOP: 'Stopping',
  RESET: 'Resetting',
  MOVE: 'Moving',
  RESTORE: 'Restoring',
  ATTACH_DISKS: 'Attaching disks to',
  DETACH_DISKS: 'Detaching disks from',
};
const NOUNS: Record<Operation['metadata']['type'], string> = {
  vm: 'a VM',
  disk: 'a disk',
  snapshot: 'a snapshot',
  backup: 'a backup',
  image: 'an image',
  'vpc-firewall-rule': 'a firewall rule',
};

export function FailedOperations() {
  const { data = [], error, isPending } = useQuery(failedOperations());
  return (
    <Panel title="Last failed operations">
      {error && <ErrorNote error={error} />}
      {data.length === 0 && !error && (
        <p className="text-muted">{isPending ? ' ' : 'No operation has failed.'}</p>
      )}
      <ul className="flex flex-col divide-y divide-line">
        {data.map((operation) => (
          <li key={operation.operation_id} className="py-2 first:pt-0 last:pb-0">
            <p className="flex justify-between gap-3">
              <span>
                {NAMES[operation.metadata.operation_name]} {NOUNS[operation.metadata.type]} failed
              </span>
              <span className="text-sm text-muted">
                <RelativeTime at={operation.completed_at} />
              </span>
            </p>
            <p className="text-sm break-words text-muted">
              {String(operation.result?.['message'] ?? '')}
            </p>
            <p className="font-mono text-xs break-all text-muted">{operation.metadata.id}</p>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

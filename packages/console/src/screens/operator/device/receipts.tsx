import type { Schemas } from '@gantry/sdk';
import { queryOptions, useQuery } from '@tanstack/react-query';
import { adminKey } from '../../../api/admin-queries.ts';
import { gantry } from '../../../api/client.ts';
import { Badge, type Tone } from '../../../components/badge.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Panel } from '../../../components/panel.tsx';
import { RelativeTime } from '../../../components/relative-time.tsx';

type Receipt = Schemas['OperatorDeviceReceipt'];
type Property = Receipt['properties'][number];

const SHOWN = 50;

const receiptsOf = (deviceId: string) =>
  queryOptions({
    queryKey: adminKey('devices', deviceId, 'receipts'),
    queryFn: async ({ signal }) =>
      (await gantry.adminDevices.receipts({ device_id: deviceId, limit: SHOWN }, { signal })).items,
  });

const PROPERTY_WORDS: Record<Property['state'], [label: string, tone: Tone]> = {
  verified: ['proven', 'good'],
  not_verified: ['not proven', 'warn'],
  not_applicable: ['does not apply', 'idle'],
};

/** How the device was cleaned after each VM, newest first. */
export function Receipts({ deviceId }: { deviceId: string }) {
  const { data, error } = useQuery(receiptsOf(deviceId));
  return (
    <Panel title="Cleaned after each VM">
      {error && <ErrorNote error={error} />}
      {data?.length === 0 && <p className="text-muted">No VM has had it yet.</p>}
      <ol className="ml-1 border-l border-line-strong">
        {data?.map((receipt) => (
          <ReceiptEntry key={receipt.id} receipt={receipt} />
        ))}
      </ol>
    </Panel>
  );
}

function ReceiptEntry({ receipt }: { receipt: Receipt }) {
  const hasFailed = receipt.failure_code !== '';
  return (
    <li className="relative mb-4 pl-5 last:mb-0">
      <span
        aria-hidden="true"
        className={`absolute top-1.5 -left-[5px] size-2.5 rounded-full ${hasFailed ? 'bg-bad' : 'bg-good'}`}
      />
      <p>
        {hasFailed ? 'Could not be cleaned' : `Cleaned by ${receipt.method}`}{' '}
        <span className="text-muted">
          <RelativeTime at={receipt.finished_at} />
        </span>
      </p>
      {hasFailed && <p className="break-words text-bad">{receipt.failure_message}</p>}
      <ul className="mt-1 flex flex-wrap gap-x-4 gap-y-1 text-sm">
        {receipt.properties.map(({ name, state, detail }) => (
          <li key={name} title={detail}>
            <Badge tone={PROPERTY_WORDS[state][1]}>
              {name.replaceAll('_', ' ')} {PROPERTY_WORDS[state][0]}
            </Badge>
          </li>
        ))}
      </ul>
      <p className="font-mono text-xs break-all text-muted">after VM {receipt.vm_id}</p>
    </li>
  );
}

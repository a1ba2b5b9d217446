import type { Schemas } from '@gantry/sdk';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { auditLog } from '../../../api/tenant-queries.ts';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Field, Input } from '../../../components/field.tsx';
import { textOf } from '../../../components/form-dialog.tsx';
import { Loading } from '../../../components/loading.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { RelativeTime } from '../../../components/relative-time.tsx';
import { type Column, Table } from '../../../components/table.tsx';

type Line = Schemas['AuditLog'];

/** Who changed what, newest first. */
export function AuditLog() {
  const [action, setAction] = useState('');
  const query = useInfiniteQuery(auditLog(action));
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetching } = query;
  const lines = data?.pages.flatMap(({ items }) => items);
  return (
    <>
      <PageHeader
        title="Audit log"
        description="Every write of tenants and operators, refused ones included."
        actions={
          <Button busy={isFetching} onClick={() => void refetch()}>
            Refresh
          </Button>
        }
      />
      <form
        className="mb-4 flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          setAction(textOf(new FormData(event.currentTarget), 'action'));
        }}
      >
        <Field label="Action" className="w-64">
          {(control) => (
            <Input
              {...control}
              name="action"
              spellCheck={false}
              placeholder="Such as vms.create"
              defaultValue={action}
            />
          )}
        </Field>
        <Button type="submit">Filter</Button>
      </form>
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {lines ? (
        <Table
          label="Audit log"
          columns={COLUMNS}
          rows={lines}
          rowId={({ id }) => id}
          empty="There is no line of this action."
        />
      ) : (
        !error && <Loading what="the audit log" />
      )}
      {hasNextPage && (
        <div className="mt-3 text-center">
          <Button busy={isFetching} onClick={() => void fetchNextPage()}>
            Show older lines
          </Button>
        </div>
      )}
    </>
  );
}

const whoOf = ({ actor, actor_type }: Line) =>
  `${actor || 'unknown'}${actor_type === 'access_key' ? ' (access key)' : ''}`;

const COLUMNS: Column<Line>[] = [
  { id: 'at', header: 'When', sortBy: ({ at }) => at, cell: ({ at }) => <RelativeTime at={at} /> },
  {
    id: 'action',
    header: 'Action',
    sortBy: ({ action }) => action,
    cell: (line) => (
      <>
        <span className="font-mono text-xs break-all">
          {line.action}
          {line.attempts > 1 && ` × ${line.attempts}`}
        </span>
        <span className="block text-muted md:hidden">{whoOf(line)}</span>
      </>
    ),
  },
  { id: 'actor', header: 'Who', wide: true, sortBy: ({ actor }) => actor, cell: whoOf },
  {
    id: 'resource',
    header: 'On',
    wide: true,
    cell: ({ resource_id }) => (
      <span title={resource_id} className="block max-w-36 truncate font-mono text-xs">
        {resource_id}
      </span>
    ),
  },
  { id: 'source', header: 'From', wide: true, cell: ({ source_ip }) => source_ip },
  {
    id: 'status',
    header: 'Result',
    sortBy: ({ status }) => status,
    cell: ({ status }) => (
      <Badge tone={status < 400 ? 'good' : 'bad'}>
        {status < 400 ? 'Done' : 'Refused'}
        <span className="hidden md:inline">({status})</span>
      </Badge>
    ),
  },
];

import type { Schemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { me } from '../../../api/account-queries.ts';
import { allUsers } from '../../../api/tenant-queries.ts';
import { Badge } from '../../../components/badge.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Loading } from '../../../components/loading.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { RelativeTime } from '../../../components/relative-time.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { AddUser, UserActions } from './user-actions.tsx';

type User = Schemas['User'];

const ROLES: Record<string, string> = {
  admin: 'Operator: everything',
  support: 'Operator: support',
  'read-only': 'Operator: reads only',
};

/** The people who can log in. */
export function UserList() {
  const { data: users, error, refetch } = useQuery(allUsers());
  const { data: own } = useQuery(me());
  const columns = useMemo(() => columnsFor(own?.user.id ?? ''), [own]);
  return (
    <>
      <PageHeader
        title="Users"
        description="The people who can log in. What they may do in a project is on the page of its members."
        actions={<AddUser />}
      />
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {users ? (
        <Table label="Users" columns={columns} rows={users} rowId={({ id }) => id} />
      ) : (
        !error && <Loading what="the users" />
      )}
    </>
  );
}

const columnsFor = (ownId: string): Column<User>[] => [
  {
    id: 'email',
    header: 'E-mail address',
    sortBy: ({ email }) => email,
    cell: ({ email }) => <span className="font-medium">{email}</span>,
  },
  {
    id: 'role',
    header: 'Role',
    sortBy: ({ operator_role }) => operator_role,
    cell: ({ operator_role }) => ROLES[operator_role] ?? 'Tenant',
  },
  {
    id: 'state',
    header: 'State',
    wide: true,
    sortBy: ({ pending }) => (pending ? 1 : 0),
    cell: ({ pending }) => (
      <Badge tone={pending ? 'warn' : 'good'}>
        {pending ? 'Added by an owner, cannot log in yet' : 'Can log in'}
      </Badge>
    ),
  },
  {
    id: 'created',
    header: 'Created',
    wide: true,
    sortBy: ({ created_at }) => created_at,
    cell: ({ created_at }) => <RelativeTime at={created_at} />,
  },
  {
    id: 'actions',
    header: 'Actions',
    quiet: true,
    align: 'right',
    cell: (user) => (user.id === ownId ? 'You' : <UserActions user={user} />),
  },
];

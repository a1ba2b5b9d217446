import type { Schemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { allOrganizations, everyProject } from '../../../api/tenant-queries.ts';
import { Badge } from '../../../components/badge.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Loading } from '../../../components/loading.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { describeStanding } from './describe-standing.ts';

type Row = Schemas['AdminOrganization'] & { projects: number };

/** The organizations that use this installation. */
export function TenantList() {
  const { data: organizations, error, refetch } = useQuery(allOrganizations());
  const { data: projects } = useQuery(everyProject());
  const rows = useMemo(() => {
    const counts = new Map<string, number>();
    for (const { organization_id: id } of projects ?? []) counts.set(id, (counts.get(id) ?? 0) + 1);
    return organizations?.map((each) => ({ ...each, projects: counts.get(each.id) ?? 0 }));
  }, [organizations, projects]);
  return (
    <>
      <PageHeader
        title="Tenants"
        description="The organizations that use this installation, and whether they may create VMs."
      />
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {rows ? (
        <Table
          label="Organizations"
          columns={COLUMNS}
          rows={rows}
          rowId={({ id }) => id}
          empty="There is no organization yet."
        />
      ) : (
        !error && <Loading what="the organizations" />
      )}
    </>
  );
}

const COLUMNS: Column<Row>[] = [
  {
    id: 'name',
    header: 'Organization',
    sortBy: ({ name }) => name,
    cell: ({ id, name }) => (
      <Link
        to="/operator/tenants/$organizationId"
        params={{ organizationId: id }}
        className="font-medium hover:underline"
      >
        {name}
      </Link>
    ),
  },
  {
    id: 'standing',
    header: 'Standing',
    sortBy: ({ standing }) => describeStanding(standing).label,
    cell: ({ standing }) => {
      const { label, tone } = describeStanding(standing);
      return <Badge tone={tone}>{label}</Badge>;
    },
  },
  {
    id: 'paid',
    header: 'Payment method',
    wide: true,
    sortBy: ({ paid }) => (paid ? 'Yes' : 'No'),
    cell: ({ paid }) => (paid ? 'Yes' : 'No'),
  },
  {
    id: 'projects',
    header: 'Projects',
    align: 'right',
    sortBy: ({ projects }) => projects,
    cell: ({ projects }) => projects,
  },
];

import type { Schemas } from '@gantry/sdk';
import { queryOptions, useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { adminKey } from '../../../api/admin-queries.ts';
import { gantry } from '../../../api/client.ts';
import { everyItem } from '../../../api/every-item.ts';
import { Badge } from '../../../components/badge.tsx';
import { Button } from '../../../components/button.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Field, Select } from '../../../components/field.tsx';
import { Note } from '../../../components/note.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { Panel } from '../../../components/panel.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { Funnel } from './funnel.tsx';
import { PlacementMap } from './placement-map.tsx';

type Explanation = Schemas['PlacementExplanation'];
type ExplainedHost = Explanation['hosts'][number];

const catalogue = () =>
  queryOptions({
    queryKey: adminKey('catalogue', 'names'),
    queryFn: async ({ signal }) => {
      const [types, locations] = await Promise.all([
        everyItem(gantry.adminVmTypes.list({}, { signal })),
        everyItem(gantry.adminLocations.list({}, { signal })),
      ]);
      return {
        types: types.filter(({ retired }) => !retired).map(({ name }) => name),
        locations: locations.map(({ name }) => name),
      };
    },
  });

/** Why a VM of a type would or would not find a host now. Nothing is created. */
export function WhyNot() {
  const { data, error } = useQuery(catalogue());
  const [type, setType] = useState('');
  const [location, setLocation] = useState('');
  const explain = useMutation({
    mutationFn: (question: { type: string; location: string }) =>
      gantry.adminPlacements.explain({ body: question }),
  });
  const asked = {
    type: type || (data?.types[0] ?? ''),
    location: location || (data?.locations[0] ?? ''),
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    explain.mutate(asked);
  };
  return (
    <>
      <PageHeader
        title="Why not?"
        description="Where a new VM would be placed now, or what keeps it from every host. Nothing is created."
      />
      {error && <ErrorNote error={error} />}
      <form onSubmit={submit} className="mb-4 flex flex-wrap items-end gap-3">
        <Field label="VM type" className="min-w-44">
          {(control) => (
            <Select
              {...control}
              value={asked.type}
              onChange={(event) => setType(event.target.value)}
            >
              {data?.types.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="Location" className="min-w-44">
          {(control) => (
            <Select
              {...control}
              value={asked.location}
              onChange={(event) => setLocation(event.target.value)}
            >
              {data?.locations.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
          )}
        </Field>
        <Button type="submit" look="primary" busy={explain.isPending} disabled={!data}>
          Explain
        </Button>
      </form>
      {explain.error && <ErrorNote error={explain.error} />}
      {explain.data && <Result key={explain.submittedAt} explanation={explain.data} />}
    </>
  );
}

function Result({ explanation: { placement, filters, hosts } }: { explanation: Explanation }) {
  const { host_id, host_name, gpus, drives } = placement;
  const addresses = [...gpus, ...drives].map(({ pci_address }) => pci_address).join(', ');
  return (
    <div className="flex flex-col gap-4">
      {host_id === '' ? (
        <Note tone="bad" role="status">
          No host fits. The last line below is the reason.
        </Note>
      ) : (
        <Note tone="info" role="status">
          It would be placed on{' '}
          <Link
            to="/operator/hosts/$hostId"
            params={{ hostId: host_id }}
            className="font-medium underline"
          >
            {host_name}
          </Link>
          {addresses !== '' && ` with the devices ${addresses}`}.
        </Note>
      )}
      {host_id !== '' && <PlacementMap placement={placement} hosts={hosts} />}
      <Panel title="Hosts that …">
        <Funnel filters={filters} />
      </Panel>
      <Table
        label="Hosts and why they do not fit"
        columns={COLUMNS}
        rows={hosts}
        rowId={(host) => host.host_id}
        empty="The location has no hosts."
      />
    </div>
  );
}

const COLUMNS: Column<ExplainedHost>[] = [
  {
    id: 'name',
    header: 'Host',
    sortBy: ({ name }) => name,
    cell: ({ host_id, name }) => (
      <Link
        to="/operator/hosts/$hostId"
        params={{ hostId: host_id }}
        className="font-medium hover:underline"
      >
        {name}
      </Link>
    ),
  },
  {
    id: 'fits',
    header: 'Fits',
    sortBy: ({ fits }) => (fits ? 0 : 1),
    cell: ({ fits }) => <Badge tone={fits ? 'good' : 'bad'}>{fits ? 'Yes' : 'No'}</Badge>,
  },
  {
    id: 'reason',
    header: 'Reason',
    sortBy: ({ reason }) => reason,
    cell: ({ reason }) => <span className="break-words">{reason.replace(/^[a-z_]+: /, '')}</span>,
  },
];

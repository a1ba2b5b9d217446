import type { Schemas } from '@gantry/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { adminVmTypes } from '../../../api/admin-catalogue-queries.ts';
import { gantry } from '../../../api/client.ts';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Loading } from '../../../components/loading.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { CreateVmType } from './create-vm-type.tsx';
import { EditOffer, type OfferChange } from './edit-offer.tsx';
import { Offer } from './offer.tsx';

type VmType = Schemas['AdminVmType'];

export function VmTypeList() {
  const { data: types, error, refetch } = useQuery(adminVmTypes());
  const queryClient = useQueryClient();
  const columns = useMemo(
    () =>
      columnsFor(async (type, body) => {
        await gantry.adminVmTypes.change({ vm_type: type.name, body });
        await queryClient.invalidateQueries(adminVmTypes());
      }),
    [queryClient],
  );
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!types) return <Loading what="the VM types" />;
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-3">
        <p className="text-muted">
          What a type consists of never changes, because VMs were placed and are billed by it.
        </p>
        <CreateVmType />
      </div>
      <Table label="VM types" columns={columns} rows={types} rowId={({ name }) => name} />
    </>
  );
}

const gpusOf = ({ gpu_count, gpu_type }: VmType) =>
  gpu_count === 0 ? '–' : `${gpu_count} × ${gpu_type}`;

const columnsFor = (
  change: (type: VmType, body: OfferChange) => Promise<unknown>,
): Column<VmType>[] => [
  {
    id: 'name',
    header: 'Type',
    sortBy: ({ name }) => name,
    cell: (type) => (
      <>
        <span className="font-medium whitespace-nowrap">{type.name}</span>
        <span className="block text-muted md:hidden">{gpusOf(type)}</span>
      </>
    ),
  },
  {
    id: 'gpus',
    header: 'GPUs',
    wide: true,
    sortBy: ({ gpu_count }) => gpu_count,
    cell: gpusOf,
  },
  {
    id: 'cores',
    header: 'Cores',
    align: 'right',
    wide: true,
    sortBy: ({ cpu_cores }) => cpu_cores,
    cell: ({ cpu_cores }) => cpu_cores,
  },
  {
    id: 'memory',
    header: 'Memory',
    align: 'right',
    wide: true,
    sortBy: ({ memory_gb }) => memory_gb,
    cell: ({ memory_gb }) => `${memory_gb} GB`,
  },
  {
    id: 'offered',
    header: 'Offered in',
    cell: (type) => <Offer {...type} />,
  },
  {
    id: 'actions',
    header: 'Actions',
    quiet: true,
    align: 'right',
    cell: (type) => (
      <EditOffer name={type.name} offer={type} onSave={(body) => change(type, body)} />
    ),
  },
];

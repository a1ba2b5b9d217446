import type { Schemas } from '@gantry/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import { adminImages } from '../../../api/admin-catalogue-queries.ts';
import { gantry } from '../../../api/client.ts';
import { DeleteButton } from '../../../components/delete-button.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Loading } from '../../../components/loading.tsx';
import { RelativeTime } from '../../../components/relative-time.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { CreateImage } from './create-image.tsx';
import { EditOffer } from './edit-offer.tsx';
import { Offer } from './offer.tsx';

type Image = Schemas['AdminImage'];

export function ImageList() {
  const { data: images, error, refetch } = useQuery(adminImages());
  const queryClient = useQueryClient();
  const columns = useMemo(
    () => columnsFor(() => queryClient.invalidateQueries(adminImages())),
    [queryClient],
  );
  if (error) return <ErrorNote error={error} onRetry={() => void refetch()} />;
  if (!images) return <Loading what="the images" />;
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-3">
        <p className="text-muted">The systems that VMs start with. Hosts verify what they fetch.</p>
        <CreateImage />
      </div>
      <Table
        label="Images"
        columns={columns}
        rows={images}
        rowId={({ id }) => id}
        empty="There is no image yet, so no VM can be created."
      />
    </>
  );
}

const columnsFor = (refresh: () => Promise<unknown>): Column<Image>[] => [
  {
    id: 'name',
    header: 'Image',
    sortBy: ({ name }) => name,
    cell: ({ name, description }) => (
      <>
        <span className="font-medium">{name}</span>
        <span className="block text-muted">{description}</span>
      </>
    ),
  },
  {
    id: 'source',
    header: 'Source',
    wide: true,
    cell: ({ source_url, sha256 }) =>
      source_url === '' ? (
        <span className="text-muted">none yet</span>
      ) : (
        <span title={`SHA-256 ${sha256}`} className="font-mono text-xs break-all">
          {source_url}
        </span>
      ),
  },
  { id: 'offered', header: 'Offered in', cell: (image) => <Offer {...image} /> },
  {
    id: 'created',
    header: 'Added',
    wide: true,
    sortBy: ({ created_at }) => created_at,
    cell: ({ created_at }) => <RelativeTime at={created_at} />,
  },
  {
    id: 'actions',
    header: 'Actions',
    quiet: true,
    align: 'right',
    cell: (image) => (
      <span className="inline-flex gap-1">
        <DeleteButton
          name={image.name}
          onConfirm={async () => {
            await gantry.adminImages.delete({ image_id: image.id });
            await refresh();
          }}
        >
          An image that VMs were created from cannot be deleted. Retire it instead.
        </DeleteButton>
        <EditOffer
          name={image.name}
          offer={image}
          onSave={async (body) => {
            await gantry.adminImages.change({ image_id: image.id, body });
            await refresh();
          }}
        />
      </span>
    ),
  },
];

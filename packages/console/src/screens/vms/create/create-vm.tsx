import { useParams } from '@tanstack/react-router';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Loading } from '../../../components/loading.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { CreateVmForm } from './create-vm-form.tsx';
import { useCatalogue } from './use-catalogue.ts';

export function CreateVm() {
  const { projectId } = useParams({ from: '/shell/projects/$projectId/vms/new' });
  const { catalogue, error } = useCatalogue(projectId);
  return (
    <>
      <PageHeader title="Create a VM" />
      {error && <ErrorNote error={error} />}
      {!catalogue && !error && <Loading what="what is available" />}
      {catalogue && <CreateVmForm projectId={projectId} catalogue={catalogue} />}
    </>
  );
}

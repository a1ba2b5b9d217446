import { ApiError, type Schemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { eventsOf, oneVm, vmOperations } from '../../../api/project-queries.ts';
import { Badge } from '../../../components/badge.tsx';
import { buttonClass } from '../../../components/button.tsx';
import { CopyButton } from '../../../components/copy-button.tsx';
import { EmptyState } from '../../../components/empty-state.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Loading } from '../../../components/loading.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { Panel } from '../../../components/panel.tsx';
import { describeVmState } from '../../../format/vm-state.ts';
import { VmActions } from '../vm-actions.tsx';
import { EditVm } from './edit-vm.tsx';
import { OperationProgress } from './operation-progress.tsx';
import { SerialPanel } from './serial-panel.tsx';
import { VmAttachments } from './vm-attachments.tsx';
import { VmFacts } from './vm-facts.tsx';
import { VmTimeline } from './vm-timeline.tsx';

export function VmPage() {
  const { projectId, vmId } = useParams({ from: '/shell/projects/$projectId/vms/$vmId' });
  const { data: vm, error, refetch } = useQuery(oneVm(projectId, vmId));
  const { data: operations = [] } = useQuery(vmOperations(projectId, vmId));
  const { data: events = [] } = useQuery(eventsOf(projectId, vmId));
  const [newest] = operations;
  if (error instanceof ApiError && error.status === 404) {
    return <GoneVm projectId={projectId} newest={newest} />;
  }
  if (vm === undefined) {
    return error ? (
      <ErrorNote error={error} onRetry={() => void refetch()} />
    ) : (
      <Loading what="the VM" />
    );
  }
  const { label, tone } = describeVmState(vm.state);
  return (
    <>
      <PageHeader
        title={vm.name}
        description={<Badge tone={tone}>{label}</Badge>}
        actions={
          <>
            <EditVm vm={vm} />
            <VmActions vm={vm} look="buttons" />
          </>
        }
      />
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="flex min-w-0 flex-col gap-4">
          {newest && <OperationProgress projectId={projectId} operation={newest} />}
          <SshLine vm={vm} />
          <SerialPanel vm={vm} />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <VmFacts vm={vm} />
          <VmAttachments vm={vm} />
          <VmTimeline operations={operations} events={events} />
        </div>
      </div>
    </>
  );
}

function SshLine({ vm }: { vm: Schemas['Vm'] }) {
  const command = `ssh root@${vm.ssh_destination}`;
  return (
    <Panel title="Log in">
      {vm.ssh_destination === '' ? (
        <p className="text-muted">The VM has no address yet.</p>
      ) : (
        <div className="flex items-center justify-between gap-3 rounded-md border border-line bg-canvas px-3 py-1">
          <code className="truncate font-mono text-sm">{command}</code>
          <CopyButton text={command} label="the SSH command" />
        </div>
      )}
    </Panel>
  );
}

type GoneVmProps = { projectId: string; newest: Schemas['Operation'] | undefined };

/** A VM that was deleted, or that could not be created. */
function GoneVm({ projectId, newest }: GoneVmProps) {
  return (
    <div className="flex flex-col gap-4">
      <EmptyState
        title="This VM does not exist"
        action={
          <Link to="/projects/$projectId/vms" params={{ projectId }} className={buttonClass()}>
            All virtual machines
          </Link>
        }
      >
        It was deleted, or it could not be created.
      </EmptyState>
      {newest && <OperationProgress projectId={projectId} operation={newest} />}
    </div>
  );
}

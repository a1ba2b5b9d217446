import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { locations } from '../../api/catalogue-queries.ts';
import { gantry } from '../../api/client.ts';
import { allVms, firewallRules, networks, projectKey, subnets } from '../../api/project-queries.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { Field, Input } from '../../components/field.tsx';
import { FormDialog, textOf } from '../../components/form-dialog.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { AddressesPanel } from './addresses-panel.tsx';
import { NetworkPanel } from './network-panel.tsx';
import { TracePanel } from './trace-panel.tsx';

/** The networks of a project, what their rules allow, and why a connection passes or not. */
export function NetworkPage() {
  const { projectId } = useParams({ from: '/shell/projects/$projectId/network' });
  const queryClient = useQueryClient();
  const nets = useQuery(networks(projectId));
  const { data: parts = [] } = useQuery(subnets(projectId));
  const { data: rules = [] } = useQuery(firewallRules(projectId));
  const { data: vms = [] } = useQuery(allVms(projectId));
  const { data: places = [] } = useQuery(locations());
  const named = [...(nets.data ?? []), ...parts, ...vms];
  const names = new Map(named.map(({ id, name }) => [id, name]));
  const create = async (form: FormData) => {
    const body = { name: textOf(form, 'name'), cidr: textOf(form, 'cidr') };
    await gantry.networks.create({ project_id: projectId, body });
    await queryClient.invalidateQueries({ queryKey: projectKey(projectId, 'networks') });
  };
  return (
    <>
      <PageHeader
        title="Network"
        description="Everything that no rule allows is dropped. A rule that denies wins over rules that allow."
        actions={
          <FormDialog
            open="Create network"
            title="Create a network"
            action="Create"
            onSubmit={create}
          >
            <Field label="Name">{(control) => <Input {...control} name="name" required />}</Field>
            <Field label="Block of addresses" hint="Private addresses, such as 10.8.0.0/16.">
              {(control) => <Input {...control} name="cidr" required />}
            </Field>
          </FormDialog>
        }
      />
      <div className="flex flex-col gap-4">
        {nets.error && <ErrorNote error={nets.error} onRetry={() => void nets.refetch()} />}
        {!nets.data && !nets.error && <Loading what="the networks" />}
        {nets.data?.map((network) => (
          <NetworkPanel
            key={network.id}
            projectId={projectId}
            network={network}
            subnets={parts.filter(({ vpc_network_id }) => vpc_network_id === network.id)}
            rules={rules.filter(({ vpc_network_id }) => vpc_network_id === network.id)}
            locations={places}
            names={names}
          />
        ))}
        <AddressesPanel projectId={projectId} vms={vms} locations={places} />
        <TracePanel projectId={projectId} vms={vms} />
      </div>
    </>
  );
}

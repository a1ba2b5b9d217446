import type { Schemas } from '@gantry/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { gantry } from '../../api/client.ts';
import { projectKey } from '../../api/project-queries.ts';
import { DeleteButton } from '../../components/delete-button.tsx';
import { Field, Input, Select } from '../../components/field.tsx';
import { FormDialog, textOf } from '../../components/form-dialog.tsx';
import { Panel } from '../../components/panel.tsx';
import { CreateRule } from './create-rule.tsx';
import { RenameButton } from './rename-button.tsx';
import type { Rule } from './rule-matrix.ts';
import { RuleTable } from './rule-table.tsx';

type NetworkPanelProps = {
  projectId: string;
  network: Schemas['Network'];
  subnets: Schemas['Subnet'][];
  rules: Rule[];
  locations: { name: string }[];
  /** The names of VMs, subnets and networks, by id. */
  names: ReadonlyMap<string, string>;
};

/** A network, its subnets and its rules. */
export function NetworkPanel(props: NetworkPanelProps) {
  const { projectId, network, subnets, rules, locations, names } = props;
  const queryClient = useQueryClient();
  // Networks and subnets have no operations, so the stream does not report them.
  const refresh = () => queryClient.invalidateQueries({ queryKey: projectKey(projectId) });
  const addSubnet = async (form: FormData) => {
    const body = {
      name: textOf(form, 'name'),
      cidr: textOf(form, 'cidr'),
      location: textOf(form, 'location'),
      vpc_network_id: network.id,
    };
    await gantry.subnets.create({ project_id: projectId, body });
    await refresh();
  };
  return (
    <Panel
      title={`${network.name} · ${network.cidr}`}
      actions={
        <div className="flex flex-wrap gap-2">
          <FormDialog
            open="Add subnet"
            title="Add a subnet"
            action="Add subnet"
            onSubmit={addSubnet}
          >
            <Field label="Name">{(control) => <Input {...control} name="name" required />}</Field>
            <Field label="Block of addresses" hint={`A part of ${network.cidr}.`}>
              {(control) => <Input {...control} name="cidr" required />}
            </Field>
            <Field label="Location">
              {(control) => (
                <Select {...control} name="location">
                  {locations.map(({ name }) => (
                    <option key={name}>{name}</option>
                  ))}
                </Select>
              )}
            </Field>
          </FormDialog>
          <CreateRule projectId={projectId} networkId={network.id} names={names} />
          <RenameButton
            name={network.name}
            onRename={async (name) => {
              const input = { project_id: projectId, network_id: network.id, body: { name } };
              await gantry.networks.change(input);
              await refresh();
            }}
          />
          <DeleteButton
            name={network.name}
            onConfirm={async () => {
              await gantry.networks.delete({ project_id: projectId, network_id: network.id });
              await refresh();
            }}
          >
            The network and its subnets are deleted. VMs and rules must have left it before.
          </DeleteButton>
        </div>
      }
    >
      {subnets.length === 0 && (
        <p className="mb-3 text-muted">It has no subnet yet, so no VM can join it.</p>
      )}
      <ul className="mb-3 flex empty:hidden flex-wrap gap-x-6 gap-y-1" aria-label="Subnets">
        {subnets.map(({ id, name, cidr, location }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-2">
            <span className="font-medium">{name}</span>
            <span className="text-muted">
              {cidr}, {location}
            </span>
            <RenameButton
              name={name}
              onRename={async (next) => {
                const input = { project_id: projectId, subnet_id: id, body: { name: next } };
                await gantry.subnets.change(input);
                await refresh();
              }}
            />
            <DeleteButton
              name={name}
              onConfirm={async () => {
                await gantry.subnets.delete({ project_id: projectId, subnet_id: id });
                await refresh();
              }}
            >
              No VM and no rule may use the subnet any more.
            </DeleteButton>
          </li>
        ))}
      </ul>
      <RuleTable projectId={projectId} rules={rules} names={names} />
    </Panel>
  );
}

import type { Schemas } from '@gantry/sdk';
import { gantry } from '../../api/client.ts';
import { Field, Input, Select } from '../../components/field.tsx';
import { FormDialog, textOf } from '../../components/form-dialog.tsx';

type Body = Schemas['CreateFirewallRule'];
type CreateRuleProps = { projectId: string; networkId: string; names: ReadonlyMap<string, string> };

const PROTOCOLS = ['tcp', 'udp', 'icmp'] as const;
const ENDPOINT_HINT =
  'A block such as 10.0.0.0/8, or the name of a VM, subnet or network. Empty: anywhere.';

export function CreateRule({ projectId, networkId, names }: CreateRuleProps) {
  const create = (form: FormData) => {
    const endpoints = (name: string) => readEndpoints(textOf(form, name), names);
    const body: Body = {
      name: textOf(form, 'name'),
      vpc_network_id: networkId,
      action: textOf(form, 'action') as Body['action'],
      direction: textOf(form, 'direction') as Body['direction'],
      protocols: PROTOCOLS.filter((protocol) => form.get(protocol) !== null),
      sources: endpoints('sources'),
      destinations: endpoints('destinations'),
      destination_ports: listOf(textOf(form, 'ports')),
    };
    return gantry.firewallRules.create({ project_id: projectId, body });
  };
  return (
    <FormDialog open="Add rule" title="Add a firewall rule" action="Add rule" onSubmit={create}>
      <Field label="Name">{(control) => <Input {...control} name="name" required />}</Field>
      <div className="grid grid-cols-2 gap-4">
        <Field label="Action">
          {(control) => (
            <Select {...control} name="action">
              <option value="allow">Allow</option>
              <option value="deny">Deny</option>
            </Select>
          )}
        </Field>
        <Field label="Direction">
          {(control) => (
            <Select {...control} name="direction">
              <option value="ingress">Into VMs</option>
              <option value="egress">Out of VMs</option>
            </Select>
          )}
        </Field>
      </div>
      <fieldset className="flex gap-4">
        <legend className="mb-1 text-sm font-medium">Protocols</legend>
        {PROTOCOLS.map((protocol) => (
          <label key={protocol} className="flex items-center gap-1.5">
            <input
              type="checkbox"
              name={protocol}
              className="accent-accent"
              defaultChecked={protocol === 'tcp'}
            />
            {protocol}
          </label>
        ))}
      </fieldset>
      <Field label="From" optional hint={ENDPOINT_HINT}>
        {(control) => <Input {...control} name="sources" />}
      </Field>
      <Field label="To" optional hint={ENDPOINT_HINT}>
        {(control) => <Input {...control} name="destinations" />}
      </Field>
      <Field label="Ports" optional hint="Such as 22, 3000-8080. Empty: every port.">
        {(control) => <Input {...control} name="ports" />}
      </Field>
    </FormDialog>
  );
}

const listOf = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** A text that is the name of a resource means that resource; the server judges any other text. */
function readEndpoints(text: string, names: ReadonlyMap<string, string>) {
  const ids = new Map([...names].map(([id, name]) => [name, id]));
  return listOf(text).map((part) => {
    const id = ids.get(part);
    return id === undefined ? { cidr: part } : { resource_id: id };
  });
}

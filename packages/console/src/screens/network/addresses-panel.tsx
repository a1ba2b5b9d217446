import type { Schemas } from '@gantry/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { gantry } from '../../api/client.ts';
import { projectKey, reservedAddresses } from '../../api/project-queries.ts';
import { DeleteButton } from '../../components/delete-button.tsx';
import { EntryList } from '../../components/entry-list.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Field, Input, Select } from '../../components/field.tsx';
import { FormDialog, textOf } from '../../components/form-dialog.tsx';
import { Panel } from '../../components/panel.tsx';
import { RenameButton } from './rename-button.tsx';

type Address = Schemas['ReservedAddress'];
type AddressesPanelProps = {
  projectId: string;
  vms: Schemas['Vm'][];
  locations: { name: string }[];
};

/** The public addresses that belong to the project, and the VMs that have them. */
export function AddressesPanel({ projectId, vms, locations }: AddressesPanelProps) {
  const { data: addresses = [], error } = useQuery(reservedAddresses(projectId));
  const queryClient = useQueryClient();
  const refresh = async () => {
    await queryClient.invalidateQueries({ queryKey: projectKey(projectId, 'public-addresses') });
    await queryClient.invalidateQueries({ queryKey: projectKey(projectId, 'vms') });
  };
  const reserve = async (form: FormData) => {
    const body = { name: textOf(form, 'name'), location: textOf(form, 'location') };
    await gantry.publicAddresses.create({ project_id: projectId, body });
    await refresh();
  };
  const nameOf = (vmId: string) => vms.find(({ id }) => id === vmId)?.name ?? vmId;
  return (
    <Panel
      title="Reserved public addresses"
      actions={
        <FormDialog
          open="Reserve address"
          title="Reserve a public address"
          action="Reserve"
          onSubmit={reserve}
        >
          <Field label="Name">{(control) => <Input {...control} name="name" required />}</Field>
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
      }
    >
      {error && <ErrorNote error={error} />}
      <EntryList
        label="Reserved public addresses"
        empty="None is reserved. A reserved address stays the same when VMs stop or are replaced."
        entries={addresses.map((address) => ({
          id: address.id,
          title: `${address.name} · ${address.address}`,
          detail:
            address.vm_id === ''
              ? `${address.location}, attached to no VM`
              : `${address.location}, attached to ${nameOf(address.vm_id)}`,
          note: '',
          action: (
            <AddressActions projectId={projectId} address={address} vms={vms} onDone={refresh} />
          ),
        }))}
      />
    </Panel>
  );
}

type AddressActionsProps = {
  projectId: string;
  address: Address;
  vms: Schemas['Vm'][];
  onDone(): Promise<unknown>;
};

function AddressActions({ projectId, address, vms, onDone }: AddressActionsProps) {
  const { id, name, vm_id, location } = address;
  const body = { address_id: id };
  const stopped = vms.filter((vm) => vm.location === location && vm.state === 'STATE_SHUTOFF');
  return (
    <span className="flex flex-wrap justify-end gap-1">
      <RenameButton
        name={name}
        onRename={async (next) => {
          const input = { project_id: projectId, address_id: id, body: { name: next } };
          await gantry.publicAddresses.change(input);
          await onDone();
        }}
      />
      {vm_id === '' ? (
        <>
          <FormDialog
            open="Attach"
            label={`Attach ${name}`}
            title={`Attach ${name} to a VM`}
            action="Attach"
            look="ghost"
            onSubmit={async (form) => {
              const input = { project_id: projectId, vm_id: textOf(form, 'vm'), body };
              await gantry.vms.attachPublicAddress(input);
              await onDone();
            }}
          >
            <Field
              label="VM"
              hint={
                stopped.length === 0
                  ? `No VM in ${location} is stopped. Stop the VM first.`
                  : 'Stopped VMs only. The address works when the VM starts.'
              }
            >
              {(control) => (
                <Select {...control} name="vm" required>
                  {stopped.map((vm) => (
                    <option key={vm.id} value={vm.id}>
                      {vm.name}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
          </FormDialog>
          <DeleteButton
            name={name}
            action="Release"
            onConfirm={async () => {
              await gantry.publicAddresses.delete({ project_id: projectId, address_id: id });
              await onDone();
            }}
          >
            The project loses the address, and another project can get it later.
          </DeleteButton>
        </>
      ) : (
        <DeleteButton
          name={name}
          action="Detach"
          onConfirm={async () => {
            await gantry.vms.detachPublicAddress({ project_id: projectId, vm_id, body });
            await onDone();
          }}
        >
          The VM has to be stopped. The project keeps the address.
        </DeleteButton>
      )}
    </span>
  );
}

import type { Schemas } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { specs } from '../../../api/catalogue-queries.ts';
import { gantry } from '../../../api/client.ts';
import { Field, Input, Select } from '../../../components/field.tsx';
import { FormDialog, textOf } from '../../../components/form-dialog.tsx';
import { readTags, writeTags } from '../../../format/tags.ts';

/** Changes the name and the tags of a VM, and the type of a stopped one. */
export function EditVm({ vm }: { vm: Schemas['Vm'] }) {
  const { data: types = [] } = useQuery(specs(vm.project_id));
  const isStopped = vm.state === 'STATE_SHUTOFF';
  const change = (form: FormData) => {
    const type = textOf(form, 'type');
    return gantry.vms.change({
      ...{ project_id: vm.project_id, vm_id: vm.id },
      body: {
        action: 'UPDATE',
        name: textOf(form, 'name'),
        tags: readTags(textOf(form, 'tags')),
        ...(isStopped && type !== vm.type ? { type } : {}),
      },
    });
  };
  return (
    <FormDialog open="Edit" size="medium" title={`Edit ${vm.name}`} action="Save" onSubmit={change}>
      <Field label="Name">
        {(control) => <Input {...control} name="name" required defaultValue={vm.name} />}
      </Field>
      <Field label="Tags" optional hint="Such as env=prod, team=vision.">
        {(control) => <Input {...control} name="tags" defaultValue={writeTags(vm.tags)} />}
      </Field>
      <Field
        label="Type"
        hint={
          isStopped
            ? 'The new type counts from the next start on.'
            : 'Stop the VM to change its type.'
        }
      >
        {(control) => (
          <Select {...control} name="type" defaultValue={vm.type} disabled={!isStopped}>
            {types.map(({ product_name }) => (
              <option key={product_name}>{product_name}</option>
            ))}
          </Select>
        )}
      </Field>
    </FormDialog>
  );
}

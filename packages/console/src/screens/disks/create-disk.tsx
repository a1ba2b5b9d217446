import type { Schemas } from '@gantry/sdk';
import { gantry } from '../../api/client.ts';
import { Field, Input, Select } from '../../components/field.tsx';
import { FormDialog, textOf } from '../../components/form-dialog.tsx';
import { useDiskChange } from './use-disk-change.ts';

type DiskType = NonNullable<Schemas['CreateDisk']['type']>;
type CreateDiskProps = { projectId: string; locations: { name: string }[] };

export function CreateDisk({ projectId, locations }: CreateDiskProps) {
  const finish = useDiskChange(projectId);
  const create = async (form: FormData) => {
    const body = {
      name: textOf(form, 'name'),
      location: textOf(form, 'location'),
      size: `${textOf(form, 'size')}GiB`,
      type: textOf(form, 'type') as DiskType,
    };
    await finish(gantry.disks.create({ project_id: projectId, body }));
  };
  return (
    <FormDialog
      open="Create disk"
      title="Create a disk"
      action="Create"
      size="medium"
      onSubmit={create}
    >
      <Field label="Name">{(control) => <Input {...control} name="name" required />}</Field>
      <Field label="Size in GiB">
        {(control) => (
          <Input
            {...control}
            name="size"
            type="number"
            min={1}
            max={10_240}
            defaultValue={100}
            required
          />
        )}
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
      <Field label="Type">
        {(control) => (
          <Select {...control} name="type">
            <option value="persistent-ssd">Block device for one VM</option>
            <option value="shared-volume">Directory for several VMs</option>
          </Select>
        )}
      </Field>
    </FormDialog>
  );
}

import type { Schemas } from '@gantry/sdk';
import { gantry } from '../../api/client.ts';
import { DeleteButton } from '../../components/delete-button.tsx';
import { Field, Input, Select } from '../../components/field.tsx';
import { FormDialog, textOf } from '../../components/form-dialog.tsx';
import { showSize, sizeInGib } from './disk-size.ts';
import { useDiskChange } from './use-disk-change.ts';

type Disk = Schemas['Disk'];
type Vm = Schemas['Vm'];
type DiskActionsProps = { projectId: string; disk: Disk; vms: readonly Vm[] };

/** What can be done with a disk now. An OS disk belongs to its VM, so it has no actions. */
export function DiskActions({ projectId, disk, vms }: DiskActionsProps) {
  const finish = useDiskChange(projectId);
  if (disk.attachment_type === 'os' || disk.state !== 'ready') return null;
  const { id, name, vm_ids } = disk;
  const isShared = disk.type === 'shared-volume';
  const detach = async () => {
    for (const vm_id of vm_ids) {
      const body = { detach_disks: [id] };
      await finish(gantry.vms.detachDisks({ project_id: projectId, vm_id, body }));
    }
  };
  return (
    <span className="flex flex-wrap justify-end gap-1">
      <Grow projectId={projectId} disk={disk} />
      {(vm_ids.length === 0 || isShared) && <Attach projectId={projectId} disk={disk} vms={vms} />}
      {vm_ids.length > 0 && (
        <DeleteButton name={name} action="Detach" onConfirm={detach}>
          {vm_ids.length > 1 && `All ${vm_ids.length} VMs lose it. `}
          The disk keeps its content. Unmount it in the VM first, so that nothing is left unwritten.
        </DeleteButton>
      )}
      {vm_ids.length === 0 && (
        <DeleteButton
          name={name}
          onConfirm={() => finish(gantry.disks.delete({ project_id: projectId, disk_id: id }))}
        >
          The disk and everything on it are deleted. This cannot be undone.
        </DeleteButton>
      )}
    </span>
  );
}

function Grow({ projectId, disk }: Omit<DiskActionsProps, 'vms'>) {
  const finish = useDiskChange(projectId);
  const { id, name, size } = disk;
  const grow = (form: FormData) => {
    const body = { size: `${textOf(form, 'size')}GiB` };
    return finish(gantry.disks.change({ project_id: projectId, disk_id: id, body }));
  };
  return (
    <FormDialog
      open="Grow"
      label={`Grow ${name}`}
      title={`Make ${name} larger`}
      action="Grow"
      look="ghost"
      onSubmit={grow}
    >
      <Field
        label="New size in GiB"
        hint={`It has ${showSize(size)} now. A disk cannot become smaller.`}
      >
        {(control) => (
          <Input
            {...control}
            name="size"
            type="number"
            min={sizeInGib(size) + 1}
            max={10_240}
            required
          />
        )}
      </Field>
    </FormDialog>
  );
}

const ATTACHABLE: Vm['state'][] = ['STATE_RUNNING', 'STATE_SHUTOFF'];

function Attach({ projectId, disk, vms }: DiskActionsProps) {
  const finish = useDiskChange(projectId);
  const { id, name, location, vm_ids } = disk;
  const possible = vms.filter(
    (vm) => vm.location === location && ATTACHABLE.includes(vm.state) && !vm_ids.includes(vm.id),
  );
  const attach = (form: FormData) => {
    const mode = form.get('read-only') === null ? 'read-write' : 'read-only';
    const body = { attach_disks: [{ disk_id: id, mode } as const] };
    const place = { project_id: projectId, vm_id: textOf(form, 'vm') };
    return finish(gantry.vms.attachDisks({ ...place, body }));
  };
  return (
    <FormDialog
      open="Attach"
      label={`Attach ${name}`}
      title={`Attach ${name} to a VM`}
      action="Attach"
      look="ghost"
      onSubmit={attach}
    >
      <Field
        label="VM"
        hint={
          possible.length === 0
            ? `No VM in ${location} is running or stopped.`
            : 'The VM may run or be stopped.'
        }
      >
        {(control) => (
          <Select {...control} name="vm" required>
            {possible.map((vm) => (
              <option key={vm.id} value={vm.id}>
                {vm.name}
              </option>
            ))}
          </Select>
        )}
      </Field>
      <label className="flex items-center gap-2 text-sm">
        <input type="checkbox" name="read-only" />
        The VM may only read it
      </label>
    </FormDialog>
  );
}

import { Field, Input } from '../../components/field.tsx';
import { FormDialog, textOf } from '../../components/form-dialog.tsx';

type RenameButtonProps = { name: string; onRename(name: string): Promise<unknown> };

export function RenameButton({ name, onRename }: RenameButtonProps) {
  return (
    <FormDialog
      open="Rename"
      label={`Rename ${name}`}
      title={`Rename ${name}`}
      action="Rename"
      look="ghost"
      onSubmit={(form) => onRename(textOf(form, 'name'))}
    >
      <Field label="New name">
        {(control) => <Input {...control} name="name" required defaultValue={name} />}
      </Field>
    </FormDialog>
  );
}

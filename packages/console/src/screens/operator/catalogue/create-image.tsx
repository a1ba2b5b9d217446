import { useQueryClient } from '@tanstack/react-query';
import { adminImages } from '../../../api/admin-catalogue-queries.ts';
import { gantry } from '../../../api/client.ts';
import { Field, Input } from '../../../components/field.tsx';
import { FormDialog, textOf } from '../../../components/form-dialog.tsx';
import { LocationChoice, locationsOf } from './location-choice.tsx';

export function CreateImage() {
  const queryClient = useQueryClient();
  const create = async (form: FormData) => {
    await gantry.adminImages.create({
      body: {
        name: textOf(form, 'name'),
        description: textOf(form, 'description'),
        source_url: textOf(form, 'source_url'),
        sha256: textOf(form, 'sha256'),
        locations: locationsOf(form),
      },
    });
    await queryClient.invalidateQueries(adminImages());
  };
  return (
    <FormDialog open="Add image" title="Add an image" action="Add" onSubmit={create}>
      <Field label="Name" hint="Such as debian-13.">
        {(control) => <Input {...control} name="name" required />}
      </Field>
      <Field label="Description" optional>
        {(control) => <Input {...control} name="description" />}
      </Field>
      <Field label="Address" hint="Where hosts fetch it: http, https or file. It never changes.">
        {(control) => <Input {...control} name="source_url" required spellCheck={false} />}
      </Field>
      <Field label="SHA-256" hint="As sha256sum prints it.">
        {(control) => (
          <Input {...control} name="sha256" required spellCheck={false} pattern="[0-9a-f]{64}" />
        )}
      </Field>
      <LocationChoice chosen={[]} />
    </FormDialog>
  );
}

import { Field, Input } from '../../../components/field.tsx';
import { FormDialog, textOf } from '../../../components/form-dialog.tsx';
import { LocationChoice, locationsOf } from './location-choice.tsx';

export type OfferChange = { description: string; retired: boolean; locations: string[] };

type EditOfferProps = {
  name: string;
  offer: OfferChange;
  onSave(change: OfferChange): Promise<unknown>;
};

/** Changes where a VM type or an image is offered, and whether at all. */
export function EditOffer({ name, offer, onSave }: EditOfferProps) {
  const save = (form: FormData) =>
    onSave({
      description: textOf(form, 'description'),
      retired: form.has('retired'),
      locations: locationsOf(form),
    });
  return (
    <FormDialog open="Edit" label={`Edit ${name}`} title={name} action="Save" onSubmit={save}>
      <Field label="Description" optional>
        {(control) => <Input {...control} name="description" defaultValue={offer.description} />}
      </Field>
      <LocationChoice chosen={offer.locations} />
      <label className="flex items-center gap-2">
        <input
          type="checkbox"
          name="retired"
          defaultChecked={offer.retired}
          className="accent-accent"
        />
        Retired: VMs that have it keep it, and new ones cannot choose it
      </label>
    </FormDialog>
  );
}

import type { Schemas } from '@gantry/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { gantry } from '../../../api/client.ts';
import { Field, Input, TextArea } from '../../../components/field.tsx';
import { FormDialog, textOf } from '../../../components/form-dialog.tsx';
import { readTags, writeTags } from '../../../format/tags.ts';
import { oneHost } from './host-queries.ts';

/** Changes where the host is on the map, and its other labels. */
export function EditLabels({ host }: { host: Schemas['HostDetails'] }) {
  const queryClient = useQueryClient();
  const { rack = '', ...others } = host.labels;
  const save = async (form: FormData) => {
    const chosen = textOf(form, 'rack');
    const labels = {
      ...readTags(textOf(form, 'others')),
      ...(chosen === '' ? {} : { rack: chosen }),
    };
    const next = await gantry.adminHosts.change({ host_id: host.id, body: { labels } });
    queryClient.setQueryData(oneHost(host.id).queryKey, next);
  };
  return (
    <FormDialog
      open="Edit labels"
      title={`Labels of ${host.name}`}
      action="Save"
      size="medium"
      onSubmit={save}
    >
      <Field label="Rack" optional hint="The fleet map draws hosts of a rack together.">
        {(control) => <Input {...control} name="rack" defaultValue={rack} />}
      </Field>
      <Field label="Other labels" optional hint="Such as row=7, owner=network.">
        {(control) => <TextArea {...control} name="others" defaultValue={writeTags(others)} />}
      </Field>
    </FormDialog>
  );
}

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { gantry } from '../../api/client.ts';
import { sshKeys } from '../../api/project-queries.ts';
import { DeleteButton } from '../../components/delete-button.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Field, Input, TextArea } from '../../components/field.tsx';
import { FormDialog, textOf } from '../../components/form-dialog.tsx';
import { Panel } from '../../components/panel.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { EntryList } from './entry-list.tsx';

export function SshKeysPanel({ projectId }: { projectId: string }) {
  const query = sshKeys(projectId);
  const { data: keys = [], error } = useQuery(query);
  const queryClient = useQueryClient();
  const refresh = () => queryClient.invalidateQueries(query);
  const add = async (form: FormData) => {
    const body = { name: textOf(form, 'name'), public_key: textOf(form, 'public_key') };
    await gantry.sshKeys.create({ project_id: projectId, body });
    await refresh();
  };
  return (
    <Panel
      title="SSH keys"
      actions={
        <FormDialog open="Add SSH key" title="Add an SSH key" action="Add key" onSubmit={add}>
          <Field label="Name">{(control) => <Input {...control} name="name" required />}</Field>
          <Field label="Public key" hint="The content of a file such as ~/.ssh/id_ed25519.pub.">
            {(control) => <TextArea {...control} name="public_key" required spellCheck={false} />}
          </Field>
        </FormDialog>
      }
    >
      {error && <ErrorNote error={error} />}
      <EntryList
        label="SSH keys"
        empty="No key is stored. New VMs can use stored keys by name."
        entries={keys.map(({ id, name, fingerprint, created_at }) => ({
          id,
          title: name,
          detail: <code className="font-mono text-xs break-all">{fingerprint}</code>,
          note: (
            <>
              Added <RelativeTime at={created_at} />
            </>
          ),
          action: (
            <DeleteButton
              name={name}
              onConfirm={async () => {
                await gantry.sshKeys.delete({ project_id: projectId, ssh_key_id: id });
                await refresh();
              }}
            >
              VMs that were created with the key keep it.
            </DeleteButton>
          ),
        }))}
      />
    </Panel>
  );
}

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { gantry } from '../../api/client.ts';
import { accessKeys } from '../../api/project-queries.ts';
import { Button } from '../../components/button.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { DeleteButton } from '../../components/delete-button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { EntryList } from '../../components/entry-list.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Field, Input, Select } from '../../components/field.tsx';
import { FormDialog, textOf } from '../../components/form-dialog.tsx';
import { Panel } from '../../components/panel.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';

/** The keys with which programs use the project. */
export function AccessKeysPanel({ projectId }: { projectId: string }) {
  const query = accessKeys(projectId);
  const { data: keys = [], error } = useQuery(query);
  const queryClient = useQueryClient();
  const [secret, setSecret] = useState('');
  const refresh = () => queryClient.invalidateQueries(query);
  const create = async (form: FormData) => {
    const role = textOf(form, 'role') === 'member' ? 'member' : 'read-only';
    const body = { name: textOf(form, 'name'), role } as const;
    const { access_key } = await gantry.accessKeys.create({ project_id: projectId, body });
    setSecret(access_key);
    await refresh();
  };
  return (
    <Panel
      title="Access keys"
      actions={
        <FormDialog
          open="Create access key"
          title="Create an access key"
          action="Create"
          onSubmit={create}
        >
          <Field label="Name" hint="What will use it, such as ci.">
            {(control) => <Input {...control} name="name" required />}
          </Field>
          <Field label="Rights">
            {(control) => (
              <Select {...control} name="role">
                <option value="member">Read, create, change and delete</option>
                <option value="read-only">Read only</option>
              </Select>
            )}
          </Field>
        </FormDialog>
      }
    >
      {error && <ErrorNote error={error} />}
      <EntryList
        label="Access keys"
        empty="No program has a key for this project."
        entries={keys.map(({ id, name, role, creator, last_used_at }) => ({
          id,
          title: name,
          detail: `${role === 'member' ? 'Read and write' : 'Read only'}, created by ${creator || 'an operator'}`,
          note:
            last_used_at === '' ? (
              'Never used'
            ) : (
              <>
                Used <RelativeTime at={last_used_at} />
              </>
            ),
          action: (
            <DeleteButton
              name={name}
              action="Revoke"
              onConfirm={async () => {
                await gantry.accessKeys.delete({ project_id: projectId, access_key_id: id });
                await refresh();
              }}
            >
              Programs that use the key are refused at once.
            </DeleteButton>
          ),
        }))}
      />
      <Dialog
        open={secret !== ''}
        onClose={() => setSecret('')}
        title="Copy the key now"
        persistent
      >
        <p className="mb-3 text-muted">It is shown this once. Gantry stores only a hash of it.</p>
        <CodeBlock text={secret} label="access key" />
        <div className="mt-4 flex justify-end">
          <Button look="primary" onClick={() => setSecret('')}>
            I have copied it
          </Button>
        </div>
      </Dialog>
    </Panel>
  );
}

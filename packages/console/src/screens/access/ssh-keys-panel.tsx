import type { Schemas } from '@gantry/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { ownSshKeys } from '../../api/account-queries.ts';
import { gantry } from '../../api/client.ts';
import { sshKeys } from '../../api/project-queries.ts';
import { DeleteButton } from '../../components/delete-button.tsx';
import { EntryList } from '../../components/entry-list.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Field, Input, TextArea } from '../../components/field.tsx';
import { FormDialog, textOf } from '../../components/form-dialog.tsx';
import { Panel } from '../../components/panel.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';

/** The keys that every member can give to new VMs of the project. */
export function ProjectSshKeys({ projectId }: { projectId: string }) {
  const query = sshKeys(projectId);
  const { data: keys = [], error } = useQuery(query);
  const queryClient = useQueryClient();
  const refresh = () => queryClient.invalidateQueries(query);
  return (
    <SshKeysPanel
      title="SSH keys of the project"
      empty="No key is stored. Every member can give a stored key to new VMs by its name."
      keys={keys}
      error={error}
      onAdd={async (body) => {
        await gantry.sshKeys.create({ project_id: projectId, body });
        await refresh();
      }}
      onDelete={async (id) => {
        await gantry.sshKeys.delete({ project_id: projectId, ssh_key_id: id });
        await refresh();
      }}
    />
  );
}

/** The keys of the person, for new VMs of all projects. */
export function OwnSshKeys() {
  const query = ownSshKeys();
  const { data: keys = [], error } = useQuery(query);
  const queryClient = useQueryClient();
  const refresh = () => queryClient.invalidateQueries(query);
  return (
    <SshKeysPanel
      title="SSH keys of your own"
      empty="No key is stored. You can give your keys to new VMs of every project, and others cannot replace them."
      keys={keys}
      error={error}
      onAdd={async (body) => {
        await gantry.userSshKeys.create({ body });
        await refresh();
      }}
      onDelete={async (id) => {
        await gantry.userSshKeys.delete({ user_ssh_key_id: id });
        await refresh();
      }}
    />
  );
}

type SshKeysPanelProps = {
  title: string;
  empty: string;
  keys: Schemas['UserSshKey'][];
  error: Error | null;
  onAdd(key: Schemas['CreateUserSshKey']): Promise<unknown>;
  onDelete(id: string): Promise<unknown>;
};

function SshKeysPanel({ title, empty, keys, error, onAdd, onDelete }: SshKeysPanelProps) {
  const add = (form: FormData) =>
    onAdd({ name: textOf(form, 'name'), public_key: textOf(form, 'public_key') });
  return (
    <Panel
      title={title}
      actions={
        <FormDialog
          open="Add SSH key"
          label={title.replace('SSH keys', 'Add SSH key')}
          title="Add an SSH key"
          action="Add key"
          onSubmit={add}
        >
          <Field label="Name">{(control) => <Input {...control} name="name" required />}</Field>
          <Field label="Public key" hint="The content of a file such as ~/.ssh/id_ed25519.pub.">
            {(control) => <TextArea {...control} name="public_key" required spellCheck={false} />}
          </Field>
        </FormDialog>
      }
    >
      {error && <ErrorNote error={error} />}
      <EntryList
        label={title}
        empty={empty}
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
            <DeleteButton name={name} onConfirm={() => onDelete(id)}>
              VMs that were created with the key keep it.
            </DeleteButton>
          ),
        }))}
      />
    </Panel>
  );
}

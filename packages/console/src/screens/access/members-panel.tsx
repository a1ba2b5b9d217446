import type { Schemas } from '@gantry/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { gantry } from '../../api/client.ts';
import { members } from '../../api/organization-queries.ts';
import { DeleteButton } from '../../components/delete-button.tsx';
import { EntryList } from '../../components/entry-list.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Field, Input, Select } from '../../components/field.tsx';
import { FormDialog, textOf } from '../../components/form-dialog.tsx';
import { Panel } from '../../components/panel.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';

type Role = Schemas['Member']['role'];
type MembersPanelProps = { organizationId: string; projectId: string };

const ROLES: Record<Role, string> = {
  owner: 'Owner of the organization',
  member: 'Member: reads and changes the project',
  'read-only': 'Reads the project',
};

/** The people who may use the project. */
export function MembersPanel({ organizationId, projectId }: MembersPanelProps) {
  const query = members(organizationId);
  const { data: people = [], error } = useQuery(query);
  const queryClient = useQueryClient();
  const refresh = () => queryClient.invalidateQueries(query);
  const add = async (form: FormData) => {
    const role = textOf(form, 'role') as Role;
    const place = role === 'owner' ? {} : { project_id: projectId };
    const body = { email: textOf(form, 'email'), role, ...place };
    await gantry.members.create({ organization_id: organizationId, body });
    await refresh();
  };
  const here = people.filter(({ project_id }) => project_id === '' || project_id === projectId);
  return (
    <Panel
      title="Members"
      actions={
        <FormDialog open="Add member" title="Add a member" action="Add" onSubmit={add}>
          <Field label="E-mail address">
            {(control) => <Input {...control} name="email" type="email" required />}
          </Field>
          <Field label="Role">
            {(control) => (
              <Select {...control} name="role" defaultValue="member">
                {Object.entries(ROLES).map(([role, label]) => (
                  <option key={role} value={role}>
                    {label}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        </FormDialog>
      }
    >
      {error && <ErrorNote error={error} />}
      <EntryList
        label="Members"
        empty="No one has been added yet."
        entries={here.map(({ id, email, role, created_at }) => ({
          id,
          title: email,
          detail: ROLES[role],
          note: (
            <>
              Added <RelativeTime at={created_at} />
            </>
          ),
          action: (
            <DeleteButton
              name={email}
              action="Remove"
              onConfirm={async () => {
                const input = { organization_id: organizationId, member_id: id };
                await gantry.members.delete(input);
                await refresh();
              }}
            >
              The person loses the access, and so do the access keys that they created.
            </DeleteButton>
          ),
        }))}
      />
    </Panel>
  );
}

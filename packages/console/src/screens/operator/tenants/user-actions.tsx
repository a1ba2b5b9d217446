import type { Schemas } from '@gantry/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { gantry } from '../../../api/client.ts';
import { allUsers } from '../../../api/tenant-queries.ts';
import { Button } from '../../../components/button.tsx';
import { CodeBlock } from '../../../components/code-block.tsx';
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { Field, Input, Select } from '../../../components/field.tsx';
import { FormDialog, textOf } from '../../../components/form-dialog.tsx';
import { MoreIcon } from '../../../components/icons.tsx';
import { Menu } from '../../../components/menu.tsx';
import { RelativeTime } from '../../../components/relative-time.tsx';

type User = Schemas['User'];
type Invitation = Schemas['Invitation'];
type Role = NonNullable<Schemas['CreateUser']['operator_role']>;

/** Creates a user without a password, and shows the link with which the person chooses one. */
export function AddUser() {
  const queryClient = useQueryClient();
  const [invitation, setInvitation] = useState<Invitation | null>(null);
  const add = async (form: FormData) => {
    const role = textOf(form, 'role');
    const operator = role === '' ? {} : { operator: true, operator_role: role as Role };
    const { id } = await gantry.adminUsers.create({
      body: { email: textOf(form, 'email'), ...operator },
    });
    await queryClient.invalidateQueries(allUsers());
    setInvitation(await gantry.adminUsers.invite({ user_id: id, body: {} }));
  };
  return (
    <>
      <FormDialog open="Add user" title="Add a user" action="Add" size="medium" onSubmit={add}>
        <Field label="E-mail address">
          {(control) => <Input {...control} name="email" type="email" required />}
        </Field>
        <Field label="Role">
          {(control) => (
            <Select {...control} name="role">
              <option value="">Tenant</option>
              <option value="read-only">Operator who reads only</option>
              <option value="support">Operator for support</option>
              <option value="admin">Operator who may do everything</option>
            </Select>
          )}
        </Field>
      </FormDialog>
      <InvitationDialog invitation={invitation} onClose={() => setInvitation(null)} />
    </>
  );
}

type Action = {
  verb: string;
  title: string;
  explanation: string;
  run(user: User): Promise<unknown>;
};

const LOG_OUT: Action = {
  verb: 'Log out',
  title: 'End all logins?',
  explanation: 'Every login and token of the user ends. Access keys keep working.',
  run: ({ id }) => gantry.adminUsers.logOut({ user_id: id }),
};
const REMOVE_SECOND_FACTOR: Action = {
  verb: 'Remove second factor',
  title: 'Remove the second factor?',
  explanation: 'The password alone is then enough to log in. Make sure that the person asked you.',
  run: ({ id }) => gantry.adminUsers.removeTotp({ user_id: id }),
};
const DELETE: Action = {
  verb: 'Delete',
  title: 'Delete the user?',
  explanation: 'The logins and access keys of the user end at once.',
  run: ({ id }) => gantry.adminUsers.delete({ user_id: id }),
};

export function UserActions({ user }: { user: User }) {
  const queryClient = useQueryClient();
  const [asked, setAsked] = useState<Action | null>(null);
  const [invites, setInvites] = useState(false);
  const [invitation, setInvitation] = useState<Invitation | null>(null);
  const items = [LOG_OUT, REMOVE_SECOND_FACTOR, DELETE].map((action) => ({
    label: action.verb,
    danger: action === DELETE,
    onSelect: () => setAsked(action),
  }));
  return (
    <>
      <Menu
        trigger={
          <Button look="ghost" size="small" aria-label={`Actions for ${user.email}`}>
            <MoreIcon />
          </Button>
        }
        items={[
          { label: 'Invite', disabled: user.pending, onSelect: () => setInvites(true) },
          ...items,
        ]}
      />
      <ConfirmDialog
        open={invites}
        onClose={() => setInvites(false)}
        title={`Invite ${user.email}?`}
        action="Invite"
        onConfirm={async () =>
          setInvitation(await gantry.adminUsers.invite({ user_id: user.id, body: {} }))
        }
      >
        You get a link with which the person chooses a new password. It replaces the present one.
      </ConfirmDialog>
      {asked && (
        <ConfirmDialog
          open
          onClose={() => setAsked(null)}
          title={`${user.email}: ${asked.title}`}
          action={asked.verb}
          danger={asked === DELETE}
          onConfirm={async () => {
            await asked.run(user);
            await queryClient.invalidateQueries(allUsers());
          }}
        >
          {asked.explanation}
        </ConfirmDialog>
      )}
      <InvitationDialog invitation={invitation} onClose={() => setInvitation(null)} />
    </>
  );
}

type InvitationDialogProps = { invitation: Invitation | null; onClose(): void };

function InvitationDialog({ invitation, onClose }: InvitationDialogProps) {
  return (
    <Dialog open={invitation !== null} onClose={onClose} title="Send this link" persistent>
      {invitation && (
        <div className="flex flex-col gap-4">
          <p className="text-muted">
            Send it to the person alone: it sets the password without any other proof. It is shown
            only now, and works until it expires <RelativeTime at={invitation.expires_at} />.
          </p>
          <CodeBlock label="invitation" text={invitation.url} />
          <div className="flex justify-end">
            <Button look="primary" onClick={onClose}>
              I have copied it
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}

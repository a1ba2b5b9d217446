import type { Schemas } from '@gantry/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { ownLogins } from '../../api/account-queries.ts';
import { gantry } from '../../api/client.ts';
import { logOutHere } from '../../api/session.ts';
import { Chip } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { EntryList } from '../../components/entry-list.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Panel } from '../../components/panel.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { nameOfClient } from '../../format/client-name.ts';

type Login = Schemas['Login'];

/** The logins of the person. One can be ended, or all of them. */
export function LoginsPanel() {
  const query = ownLogins();
  const { data: logins = [], error } = useQuery(query);
  const queryClient = useQueryClient();
  const [asked, setAsked] = useState(false);
  const [ending, setEnding] = useState<Login>();
  const logOutEverywhere = async () => {
    await gantry.account.logOut();
    logOutHere();
  };
  const end = async () => {
    if (ending) await gantry.logins.delete({ login_id: ending.id });
    await queryClient.invalidateQueries(query);
  };
  return (
    <Panel
      title="Your logins"
      actions={
        <Button size="small" onClick={() => setAsked(true)}>
          Log out everywhere
        </Button>
      }
    >
      {error && <ErrorNote error={error} />}
      <EntryList
        label="Your logins"
        empty="You are not logged in anywhere else."
        entries={logins.map((login) => ({
          id: login.id,
          title: nameOfClient(login.user_agent),
          detail: login.source_ip,
          note: (
            <>
              Last used <RelativeTime at={login.last_used_at} />
            </>
          ),
          action: login.current ? (
            <Chip>This browser</Chip>
          ) : (
            <Button size="small" onClick={() => setEnding(login)}>
              Log out
            </Button>
          ),
        }))}
      />
      <ConfirmDialog
        open={ending !== undefined}
        onClose={() => setEnding(undefined)}
        title="End this login?"
        action="Log out"
        onConfirm={end}
      >
        Its access ends at once. Your other logins and your access keys keep working.
      </ConfirmDialog>
      <ConfirmDialog
        open={asked}
        onClose={() => setAsked(false)}
        title="Log out everywhere?"
        action="Log out"
        onConfirm={logOutEverywhere}
      >
        Every login of yours ends, in this browser too. Access keys keep working.
      </ConfirmDialog>
    </Panel>
  );
}

import { useState } from 'react';
import { gantry } from '../../api/client.ts';
import { logOutHere } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmDialog } from '../../components/confirm-dialog.tsx';
import { Panel } from '../../components/panel.tsx';

/** The logins of the person. The API ends them together, so there is one button for all. */
export function SessionsPanel() {
  const [asked, setAsked] = useState(false);
  const logOutEverywhere = async () => {
    await gantry.account.logOut();
    logOutHere();
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
      <p className="text-muted">
        If a computer with a login of yours was lost, end all of them. Access keys keep working.
      </p>
      <ConfirmDialog
        open={asked}
        onClose={() => setAsked(false)}
        title="Log out everywhere?"
        action="Log out"
        onConfirm={logOutEverywhere}
      >
        Every login of yours ends, in this browser too.
      </ConfirmDialog>
    </Panel>
  );
}

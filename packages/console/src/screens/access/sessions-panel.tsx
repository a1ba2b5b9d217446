import { gantry } from '../../api/client.ts';
import { logOutHere } from '../../api/session.ts';
import { DeleteButton } from '../../components/delete-button.tsx';
import { Panel } from '../../components/panel.tsx';

/** The logins of the person. The API ends them together, so there is one button for all. */
export function SessionsPanel() {
  const logOutEverywhere = async () => {
    await gantry.account.logOut();
    logOutHere();
  };
  return (
    <Panel title="Your logins">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <p className="text-muted">
          If a computer with a login of yours was lost, end all of them. Access keys keep working.
        </p>
        <DeleteButton name="everywhere" action="Log out" onConfirm={logOutEverywhere}>
          Every login of yours ends, in this browser too.
        </DeleteButton>
      </div>
    </Panel>
  );
}

import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { adminKey } from '../../../api/admin-queries.ts';
import { gantry } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx';
import type { Rollout } from './describe-rollout.ts';
import { oneRollout } from './rollout-queries.ts';

type Action = {
  verb: string;
  title: string;
  explanation: string;
  danger?: boolean;
  run(rollout: Rollout): Promise<Rollout>;
};

const at = ({ id }: Rollout) => ({ rollout_id: id });

const PAUSE: Action = {
  verb: 'Pause',
  title: 'Pause the rollout?',
  explanation: 'Hosts that have begun finish. No other host begins until you resume it.',
  run: (rollout) => gantry.adminRollouts.pause(at(rollout)),
};
const RESUME: Action = {
  verb: 'Resume',
  title: 'Resume the rollout?',
  explanation: 'It goes on with the next hosts. The hosts that failed so far are forgiven.',
  run: (rollout) => gantry.adminRollouts.resume(at(rollout)),
};
const CANCEL: Action = {
  verb: 'Cancel',
  title: 'End the rollout here?',
  explanation: 'Hosts that have begun finish and keep the new version. The others are skipped.',
  run: (rollout) => gantry.adminRollouts.cancel(at(rollout)),
};
const ROLL_BACK: Action = {
  verb: 'Roll back',
  title: 'Return to the earlier version?',
  explanation:
    'Every host that was told to change installs the version that it had before. VMs run on.',
  danger: true,
  run: (rollout) => gantry.adminRollouts.rollBack(at(rollout)),
};

/** The actions that make sense now; the API refuses the others. */
const ACTIONS: Partial<Record<Rollout['state'], Action[]>> = {
  running: [PAUSE, CANCEL, ROLL_BACK],
  paused: [RESUME, CANCEL, ROLL_BACK],
  ...{ cancelling: [ROLL_BACK], cancelled: [ROLL_BACK], completed: [ROLL_BACK] },
};

export function RolloutActions({ rollout }: { rollout: Rollout }) {
  const queryClient = useQueryClient();
  const [asked, setAsked] = useState<Action | null>(null);
  const [isOpen, setIsOpen] = useState(false);
  const ask = (action: Action) => {
    setAsked(action);
    setIsOpen(true);
  };
  return (
    <>
      {(ACTIONS[rollout.state] ?? []).map((action) => (
        <Button
          key={action.verb}
          look={action.danger ? 'danger' : 'secondary'}
          onClick={() => ask(action)}
        >
          {action.verb}
        </Button>
      ))}
      {asked && (
        <ConfirmDialog
          open={isOpen}
          onClose={() => setIsOpen(false)}
          title={asked.title}
          action={asked.verb}
          danger={asked.danger ?? false}
          onConfirm={async () => {
            queryClient.setQueryData(oneRollout(rollout.id).queryKey, await asked.run(rollout));
            await queryClient.invalidateQueries({ queryKey: adminKey('rollouts') });
          }}
        >
          {asked.explanation}
        </ConfirmDialog>
      )}
    </>
  );
}

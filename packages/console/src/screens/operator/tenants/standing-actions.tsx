import type { Schemas } from '@gantry/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { gantry } from '../../../api/client.ts';
import { allOrganizations, standingOf } from '../../../api/tenant-queries.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx';
import { Field, Input } from '../../../components/field.tsx';

type StandingActionsProps = { organizationName: string; standing: Schemas['Standing'] };

const GRACE_HOURS = 24;

/** Suspends an organization, or ends its suspension or payment problem. */
export function StandingActions({ organizationName, standing }: StandingActionsProps) {
  const { organization_id } = standing;
  const queryClient = useQueryClient();
  const [asked, setAsked] = useState<'suspend' | 'resume' | null>(null);
  const [reason, setReason] = useState('');
  const [graceHours, setGraceHours] = useState(GRACE_HOURS);
  const close = () => setAsked(null);
  const show = async (next: Schemas['Standing']) => {
    queryClient.setQueryData(standingOf(organization_id).queryKey, next);
    await queryClient.invalidateQueries(allOrganizations());
  };
  return (
    <>
      {standing.standing !== 'good' && <Button onClick={() => setAsked('resume')}>Resume</Button>}
      {standing.standing !== 'suspended' && (
        <Button look="danger" onClick={() => setAsked('suspend')}>
          Suspend
        </Button>
      )}
      <ConfirmDialog
        open={asked === 'resume'}
        onClose={close}
        title={`Let ${organizationName} use the cloud again?`}
        action="Resume"
        onConfirm={async () => show(await gantry.adminOrganizations.resume({ organization_id }))}
      >
        The suspension ends, and a payment problem is forgiven. VMs that were stopped stay stopped
        until the tenant starts them.
      </ConfirmDialog>
      <ConfirmDialog
        open={asked === 'suspend'}
        onClose={close}
        title={`Suspend ${organizationName}?`}
        action="Suspend"
        danger
        typed={organizationName}
        onConfirm={async () =>
          show(
            await gantry.adminOrganizations.suspend({
              organization_id,
              body: { reason: reason.trim(), grace_hours: graceHours },
            }),
          )
        }
      >
        <p className="mb-4">
          It can create and start no VM from now on. Running VMs are stopped after the time below:
          what is on their NVMe drives is lost, and their disks are kept.
        </p>
        <div className="flex flex-col gap-4 text-text">
          <Field label="Reason" hint="The tenant reads it.">
            {(control) => (
              <Input
                {...control}
                required
                value={reason}
                onChange={({ target }) => setReason(target.value)}
              />
            )}
          </Field>
          <Field label="Hours until running VMs are stopped">
            {(control) => (
              <Input
                {...control}
                type="number"
                min={0}
                max={720}
                required
                value={graceHours}
                onChange={({ target }) => setGraceHours(target.valueAsNumber || 0)}
              />
            )}
          </Field>
        </div>
      </ConfirmDialog>
    </>
  );
}

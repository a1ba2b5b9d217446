import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { gantry } from '../../../api/client.ts';
import { Button } from '../../../components/button.tsx';
import { ConfirmDialog } from '../../../components/confirm-dialog.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Field, Input } from '../../../components/field.tsx';
import { type Device, ownProblem } from '../host/device-state.ts';
import { oneHost } from '../host/host-queries.ts';

type DeviceActionsProps = { hostId: string; device: Device };

export function DeviceActions({ hostId, device }: DeviceActionsProps) {
  const queryClient = useQueryClient();
  const [asked, setAsked] = useState<'quarantine' | 'release' | null>(null);
  const close = () => setAsked(null);
  const reload = () => queryClient.invalidateQueries({ queryKey: oneHost(hostId).queryKey });
  const isBlocked = ownProblem(device) !== '' || device.problems.length > 0;
  return (
    <>
      {isBlocked && <Button onClick={() => setAsked('release')}>Release</Button>}
      {device.quarantine_reason === '' && (
        <Button onClick={() => setAsked('quarantine')}>Quarantine</Button>
      )}
      <ConfirmDialog
        open={asked === 'release'}
        onClose={close}
        title="Give this device to VMs again?"
        action="Release"
        onConfirm={async () => {
          await gantry.adminDevices.release({ device_id: device.id });
          await reload();
        }}
      >
        You have looked at the device: your release replaces the missing proof that it is clean, and
        ends the problems that last until a release.
      </ConfirmDialog>
      <Dialog open={asked === 'quarantine'} onClose={close} title="Keep new VMs from this device">
        <QuarantineForm deviceId={device.id} onClose={close} onDone={reload} />
      </Dialog>
    </>
  );
}

type QuarantineFormProps = { deviceId: string; onClose(): void; onDone(): Promise<void> };

function QuarantineForm({ deviceId, onClose, onDone }: QuarantineFormProps) {
  const [reason, setReason] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      await gantry.adminDevices.quarantine({
        device_id: deviceId,
        body: { reason: reason.trim() },
      });
      await onDone();
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
      <p className="text-muted">A VM that has the device keeps it. No other VM gets it.</p>
      <Field label="Reason" hint="Other operators read it.">
        {(control) => (
          <Input
            {...control}
            required
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        )}
      </Field>
      {error !== undefined && <ErrorNote error={error} />}
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" look="primary" busy={busy} disabled={reason.trim() === ''}>
          Quarantine
        </Button>
      </div>
    </form>
  );
}

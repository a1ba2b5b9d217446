import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { secondFactor } from '../../api/account-queries.ts';
import { gantry } from '../../api/client.ts';
import { Button } from '../../components/button.tsx';
import { CodeBlock } from '../../components/code-block.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field, Input } from '../../components/field.tsx';
import { FormDialog, textOf } from '../../components/form-dialog.tsx';
import { Panel } from '../../components/panel.tsx';

/** A code of an authenticator app that a login needs besides the password. */
export function SecondFactorPanel() {
  const query = secondFactor();
  const { data } = useQuery(query);
  const queryClient = useQueryClient();
  const [secret, setSecret] = useState('');
  const [recoveryCodes, setRecoveryCodes] = useState<string[]>([]);
  const refresh = () => queryClient.invalidateQueries(query);
  const start = async (form: FormData) => {
    setSecret(
      (await gantry.account.startTotp({ body: { password: textOf(form, 'password') } })).secret,
    );
  };
  const confirm = async (form: FormData) => {
    const { recovery_codes } = await gantry.account.confirmTotp({
      body: { totp: textOf(form, 'totp') },
    });
    setSecret('');
    setRecoveryCodes(recovery_codes);
    await refresh();
  };
  const remove = async (form: FormData) => {
    await gantry.account.removeTotp({
      body: { password: textOf(form, 'password'), totp: textOf(form, 'totp') },
    });
    await refresh();
  };
  const password = (
    <Field label="Your password">
      {(control) => (
        <Input
          {...control}
          name="password"
          type="password"
          autoComplete="current-password"
          required
        />
      )}
    </Field>
  );
  const code = (
    <Field label="Code of the app">
      {(control) => <Input {...control} name="totp" autoComplete="one-time-code" required />}
    </Field>
  );
  if (data === undefined) return null;
  return (
    <Panel
      title="Second factor"
      actions={
        data.enabled ? (
          <FormDialog
            open="Switch off"
            title="Switch the second factor off"
            action="Switch off"
            onSubmit={remove}
          >
            {password}
            {code}
          </FormDialog>
        ) : (
          <FormDialog
            open="Set up"
            title="Set up a second factor"
            action="Continue"
            onSubmit={start}
          >
            {password}
          </FormDialog>
        )
      }
    >
      <p className="text-muted">
        {data.enabled
          ? `Your logins need a code of your authenticator app. ${data.recovery_codes_left} recovery codes are left.`
          : 'Your logins need only a password. With a second factor a stolen password is not enough.'}
      </p>
      {secret !== '' && (
        <div className="mt-3 flex flex-col items-start gap-3">
          <p>Add this secret to your authenticator app, then enter a code that it shows.</p>
          <CodeBlock text={secret} label="secret" />
          <FormDialog
            open="Enter the code"
            title="Enter the code"
            action="Switch on"
            onSubmit={confirm}
          >
            {code}
          </FormDialog>
        </div>
      )}
      <Dialog
        open={recoveryCodes.length > 0}
        onClose={() => setRecoveryCodes([])}
        title="Keep these recovery codes"
        persistent
      >
        <p className="mb-3 text-muted">
          Each replaces a code once, if you lose the app. They are shown this once.
        </p>
        <CodeBlock text={recoveryCodes.join('\n')} label="recovery codes" />
        <div className="mt-4 flex justify-end">
          <Button look="primary" onClick={() => setRecoveryCodes([])}>
            I have kept them
          </Button>
        </div>
      </Dialog>
    </Panel>
  );
}

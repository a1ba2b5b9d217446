import { ApiError } from '@gantry/sdk';
import { type FormEvent, useState } from 'react';
import { gantry } from '../api/client.ts';
import { expectPerson } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { Field, Input } from '../components/field.tsx';

/** Asks for a password, and for the code of a second factor if the server asks for it. */
export function LoginForm() {
  const [needsCode, setNeedsCode] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '');
    const totp = text('totp').replaceAll(/\s/g, '');
    setBusy(true);
    setError(undefined);
    try {
      const login = { email: text('email').trim(), password: text('password') };
      expectPerson(login.email);
      await gantry.logIn(totp === '' ? login : { ...login, totp });
    } catch (failure) {
      if (failure instanceof ApiError && failure.code === 'totp_required') setNeedsCode(true);
      else setError(failure);
    } finally {
      setBusy(false);
    }
  };

  return (
    <form onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
      <Field label="E-mail address">
        {(control) => (
          <Input
            {...control}
            name="email"
            type="email"
            autoComplete="username"
            required
            autoFocus
          />
        )}
      </Field>
      <Field label="Password">
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
      {needsCode && (
        <Field label="Code" hint="The six digits of your authenticator app, or a recovery code.">
          {(control) => (
            <Input
              {...control}
              name="totp"
              autoComplete="one-time-code"
              inputMode="text"
              required
              autoFocus
            />
          )}
        </Field>
      )}
      {error !== undefined && <ErrorNote error={error} />}
      <Button type="submit" look="primary" busy={busy} className="w-full">
        Log in
      </Button>
    </form>
  );
}

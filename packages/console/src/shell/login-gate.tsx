import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { me } from '../api/account-queries.ts';
import { gantry } from '../api/client.ts';
import { useObservable } from '../api/observable.ts';
import { session } from '../api/session.ts';
import { Dialog } from '../components/dialog.tsx';
import { LoginForm } from './login-form.tsx';
import { Logo } from './logo.tsx';

/** Shows the page to people who are logged in. */
export function LoginGate({ children }: { children: ReactNode }) {
  const state = useObservable(session);
  const queryClient = useQueryClient();
  // What one person has read is not shown to the next.
  useEffect(() => {
    if (state === 'anonymous') queryClient.clear();
  }, [state, queryClient]);
  if (state === 'anonymous') return <LoginPage />;
  return (
    <>
      {children}
      <ExpiredLogin open={state === 'expired'} />
    </>
  );
}

function LoginPage() {
  useEffect(() => {
    document.title = 'Log in · Gantry';
  }, []);
  return (
    <main className="mx-auto flex min-h-dvh max-w-sm flex-col justify-center px-6 pb-24">
      <div className="mb-6 text-lg">
        <Logo />
      </div>
      <h1 className="mb-4 text-xl font-semibold">Log in</h1>
      <LoginForm />
    </main>
  );
}

/** Lies over the page, which stays as it is. Requests that were under way continue after the login. */
function ExpiredLogin({ open }: { open: boolean }) {
  const queryClient = useQueryClient();
  const shownTo = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (open) shownTo.current = queryClient.getQueryData(me().queryKey)?.user.id;
  }, [open, queryClient]);
  const checkPerson = async () => {
    const { user } = await gantry.root.get();
    // Another person may not see what the first one had open.
    if (shownTo.current !== undefined && user.id !== shownTo.current) location.assign('/');
  };
  return (
    <Dialog open={open} onClose={() => {}} title="Your login has expired" persistent>
      <p className="mb-4 text-muted">Log in again to continue where you were.</p>
      <LoginForm onLogin={() => void checkPerson()} />
    </Dialog>
  );
}

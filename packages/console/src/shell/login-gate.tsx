import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
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
  return (
    <Dialog open={open} onClose={() => {}} title="Your login has expired" persistent>
      <p className="mb-4 text-muted">Log in again to continue where you were.</p>
      <LoginForm />
    </Dialog>
  );
}

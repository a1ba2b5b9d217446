import { Dialog as Base } from '@base-ui/react/dialog';
import { Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Button } from '../components/button.tsx';
import { CloseIcon, MenuIcon } from '../components/icons.tsx';
import { AccountMenu } from './account-menu.tsx';
import { ConnectionNote } from './connection-note.tsx';
import { Logo } from './logo.tsx';
import { Navigation } from './navigation.tsx';

/** The frame of every screen: the navigation beside it, or behind a button on narrow screens. */
export function AppShell() {
  return (
    <>
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-raised focus:px-3 focus:py-1.5 focus:shadow-popup"
      >
        Skip to the content
      </a>
      <div className="md:grid md:grid-cols-[15rem_minmax(0,1fr)]">
        <aside className="sticky top-0 hidden h-dvh flex-col gap-6 overflow-y-auto border-r border-line bg-surface px-3 py-4 md:flex">
          <div className="px-2">
            <Logo />
          </div>
          <Navigation />
          <div className="mt-auto">
            <AccountMenu />
          </div>
        </aside>
        <PhoneBar />
        <main id="content" tabIndex={-1} className="min-w-0 outline-none">
          <div className="mx-auto max-w-6xl px-4 py-6 md:px-8 [&>[role=alert]:not(:last-child)]:mb-4">
            <Outlet />
          </div>
        </main>
      </div>
      <ConnectionNote />
    </>
  );
}

function PhoneBar() {
  const [open, setOpen] = useState(false);
  const { pathname } = useLocation();
  // The navigation closes when a link was followed.
  useEffect(() => setOpen(false), [pathname]);
  return (
    <header className="sticky top-0 z-20 flex h-12 items-center justify-between border-b border-line bg-surface px-4 md:hidden">
      <Logo />
      <Base.Root open={open} onOpenChange={setOpen}>
        <Base.Trigger
          render={
            <Button look="ghost" aria-label="Open the navigation">
              <MenuIcon />
            </Button>
          }
        />
        <Base.Portal>
          <Base.Backdrop className="fixed inset-0 z-40 bg-black/40" />
          <Base.Popup className="fixed inset-y-0 left-0 z-50 flex w-72 max-w-[85vw] flex-col gap-6 overflow-y-auto border-r border-line bg-surface px-3 py-4">
            <div className="flex items-center justify-between px-2">
              <Base.Title render={<Logo />} />
              <Base.Close
                render={
                  <Button look="ghost" size="small" aria-label="Close the navigation">
                    <CloseIcon />
                  </Button>
                }
              />
            </div>
            <Navigation />
            <div className="mt-auto">
              <AccountMenu />
            </div>
          </Base.Popup>
        </Base.Portal>
      </Base.Root>
    </header>
  );
}

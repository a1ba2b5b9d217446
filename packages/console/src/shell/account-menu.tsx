import { useQuery } from '@tanstack/react-query';
import { me } from '../api/account-queries.ts';
import { logOutHere } from '../api/session.ts';
import { ChevronIcon } from '../components/icons.tsx';
import { Menu } from '../components/menu.tsx';
import { ThemeSwitch } from './theme-switch.tsx';

export function AccountMenu() {
  const { data } = useQuery(me());
  return (
    <div className="flex flex-col gap-2">
      <ThemeSwitch />
      <Menu
        align="start"
        trigger={
          <button
            type="button"
            className="flex h-8 items-center justify-between gap-2 rounded-md px-2 text-left text-sm text-muted hover:bg-hover hover:text-text"
          >
            <span className="truncate">{data?.user.email ?? 'Account'}</span>
            <ChevronIcon />
          </button>
        }
        items={[
          { label: 'API documentation', onSelect: () => location.assign('/docs') },
          { label: 'Log out', onSelect: logOutHere },
        ]}
      />
    </div>
  );
}

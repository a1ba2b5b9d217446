import { useQuery } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { me } from '../api/account-queries.ts';
import { useAdminStream } from '../api/event-stream.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { Loading } from '../components/loading.tsx';

/** What all screens of operators share: their event stream, and that others do not see them. */
export function OperatorFrame() {
  const { data } = useQuery(me());
  if (data === undefined) return <Loading what="your account" />;
  if (!data.user.operator) {
    return (
      <EmptyState title="This section is for operators">
        Your account is not an operator.
      </EmptyState>
    );
  }
  return <Followed />;
}

function Followed() {
  useAdminStream();
  return <Outlet />;
}

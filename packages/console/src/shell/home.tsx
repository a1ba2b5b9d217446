import { useQuery } from '@tanstack/react-query';
import { Navigate, useRouterState } from '@tanstack/react-router';
import { allProjects, me } from '../api/account-queries.ts';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorNote } from '../components/error-note.tsx';
import { Loading } from '../components/loading.tsx';
import { currentProject } from './current-project.ts';

/** Opens the project that was open last, or the first one. */
export function Home() {
  const projects = useQuery(allProjects());
  const account = useQuery(me());
  // The page that is opened next may still be loading. This one must not open another in its place.
  const isLeaving = useRouterState({ select: ({ location }) => location.pathname !== '/' });
  if (projects.error)
    return <ErrorNote error={projects.error} onRetry={() => void projects.refetch()} />;
  if (isLeaving || !projects.data || !account.data) return <Loading what="your projects" />;
  const last = currentProject();
  const project = projects.data.find(({ id }) => id === last) ?? projects.data[0];
  if (project) {
    return <Navigate to="/projects/$projectId/vms" params={{ projectId: project.id }} replace />;
  }
  if (account.data.user.operator) return <Navigate to="/operator/hosts" replace />;
  return (
    <EmptyState title="You have no project yet">
      An owner of your organization can add you to one of its projects.
    </EmptyState>
  );
}

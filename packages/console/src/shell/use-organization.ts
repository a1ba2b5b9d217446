import { useQuery } from '@tanstack/react-query';
import { allProjects } from '../api/account-queries.ts';

/** The organization that a project belongs to; undefined until it is known. */
export function useOrganizationOf(projectId: string): string | undefined {
  const { data: projects = [] } = useQuery(allProjects());
  return projects.find(({ id }) => id === projectId)?.organization_id;
}

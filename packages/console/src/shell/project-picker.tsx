import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { allProjects } from '../api/account-queries.ts';
import { Select } from '../components/field.tsx';
import { currentProject } from './current-project.ts';

export function ProjectPicker() {
  const { data: projects = [] } = useQuery(allProjects());
  const { projectId = currentProject() } = useParams({ strict: false });
  const navigate = useNavigate();
  return (
    <Select
      aria-label="Project"
      className="font-medium"
      value={projectId ?? ''}
      onChange={({ target }) =>
        void navigate({ to: '/projects/$projectId/vms', params: { projectId: target.value } })
      }
    >
      {projects.some(({ id }) => id === projectId) || <option value={projectId ?? ''}>–</option>}
      {projects.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </Select>
  );
}

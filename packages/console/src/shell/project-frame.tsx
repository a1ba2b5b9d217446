import { Outlet, useParams } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useProjectStream } from '../api/event-stream.ts';
import { rememberProject } from './current-project.ts';

/** What all screens of a project share: its event stream. */
export function ProjectFrame() {
  const { projectId } = useParams({ from: '/shell/projects/$projectId' });
  useProjectStream(projectId);
  useEffect(() => rememberProject(projectId), [projectId]);
  return <Outlet key={projectId} />;
}

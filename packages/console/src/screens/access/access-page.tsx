import { useParams } from '@tanstack/react-router';
import { PageHeader } from '../../components/page-header.tsx';
import { useOrganizationOf } from '../../shell/use-organization.ts';
import { AccessKeysPanel } from './access-keys-panel.tsx';
import { LoginsPanel } from './logins-panel.tsx';
import { MembersPanel } from './members-panel.tsx';
import { SecondFactorPanel } from './second-factor-panel.tsx';
import { OwnSshKeys, ProjectSshKeys } from './ssh-keys-panel.tsx';

/** Who and what may use the project. */
export function AccessPage() {
  const { projectId } = useParams({ from: '/shell/projects/$projectId/access' });
  const organizationId = useOrganizationOf(projectId);
  return (
    <>
      <PageHeader title="Keys and members" />
      <div className="flex flex-col gap-4">
        <ProjectSshKeys projectId={projectId} />
        <OwnSshKeys />
        <AccessKeysPanel projectId={projectId} />
        {organizationId && <MembersPanel organizationId={organizationId} projectId={projectId} />}
        <SecondFactorPanel />
        <LoginsPanel />
      </div>
    </>
  );
}

import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { gantry } from '../../../api/client.ts';
import {
  allOrganizations,
  everyProject,
  organizationQuotas,
  projectQuotas,
  standingOf,
} from '../../../api/tenant-queries.ts';
import { Badge } from '../../../components/badge.tsx';
import { EmptyState } from '../../../components/empty-state.tsx';
import { ErrorNote } from '../../../components/error-note.tsx';
import { Loading } from '../../../components/loading.tsx';
import { Note } from '../../../components/note.tsx';
import { PageHeader } from '../../../components/page-header.tsx';
import { RelativeTime } from '../../../components/relative-time.tsx';
import { describeStanding } from './describe-standing.ts';
import { QuotaPanel } from './quota-panel.tsx';
import { StandingActions } from './standing-actions.tsx';

/** One organization: whether it may use the cloud, and how much of it. */
export function TenantScreen() {
  const { organizationId } = useParams({ from: '/shell/operator/tenants/$organizationId' });
  const { data: organizations, error } = useQuery(allOrganizations());
  const { data: standing } = useQuery(standingOf(organizationId));
  const { data: projects = [] } = useQuery(everyProject());
  const organization = organizations?.find(({ id }) => id === organizationId);
  if (error) return <ErrorNote error={error} />;
  if (!organizations) return <Loading what="the organization" />;
  if (!organization) return <EmptyState title="This organization does not exist" />;
  const { label, tone } = describeStanding(standing?.standing ?? organization.standing);
  return (
    <>
      <PageHeader
        title={organization.name}
        description={
          <span className="flex flex-wrap items-center gap-x-4 gap-y-1">
            <Badge tone={tone}>{label}</Badge>
            <span>{organization.paid ? 'Has a payment method' : 'Has no payment method'}</span>
          </span>
        }
        actions={
          standing && <StandingActions organizationName={organization.name} standing={standing} />
        }
      />
      <div className="flex flex-col gap-4">
        {standing && standing.standing !== 'good' && (
          <Note tone="warn">
            <p>{standing.reason}</p>
            {standing.suspends_at !== '' && (
              <p>
                It is suspended <RelativeTime at={standing.suspends_at} />.
              </p>
            )}
            {standing.stops_vms_at !== '' && (
              <p>
                Its VMs are stopped <RelativeTime at={standing.stops_vms_at} />.
              </p>
            )}
          </Note>
        )}
        <QuotaPanel
          title="Quotas of the organization"
          description="For all its projects together."
          query={organizationQuotas(organizationId)}
          onChange={(body) =>
            gantry.adminOrganizationQuotas.set({ organization_id: organizationId, body })
          }
        />
        {projects
          .filter(({ organization_id }) => organization_id === organizationId)
          .map(({ id, name }) => (
            <QuotaPanel
              key={id}
              title={`Quotas of the project ${name}`}
              query={projectQuotas(id)}
              onChange={(body) => gantry.adminQuotas.set({ project_id: id, body })}
            />
          ))}
      </div>
    </>
  );
}

import { usageCsv } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { allProjects } from '../../api/account-queries.ts';
import { usageOf } from '../../api/organization-queries.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ErrorNote } from '../../components/error-note.tsx';
import { Select } from '../../components/field.tsx';
import { Loading } from '../../components/loading.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { formatAmount } from '../../format/money.ts';
import { useOrganizationOf } from '../../shell/use-organization.ts';
import { CostChart, colourOf } from './cost-chart.tsx';
import { type Grouping, lastDays, stackUsage, type UsageItem } from './stack-usage.ts';

const PERIODS = [7, 30, 90];

export function UsagePage() {
  const { projectId } = useParams({ from: '/shell/projects/$projectId/usage' });
  const organizationId = useOrganizationOf(projectId);
  return organizationId === undefined ? (
    <Loading what="the usage" />
  ) : (
    <OrganizationUsage organizationId={organizationId} />
  );
}

/** What the projects of an organization cost, by day. */
function OrganizationUsage({ organizationId }: { organizationId: string }) {
  const [count, setCount] = useState(30);
  const [by, setBy] = useState<Grouping>('resource_type');
  const dates = lastDays(count, Date.now());
  const period = { start_date: dates[0] ?? '', end_date: dates.at(-1) ?? '' };
  const { data: items, error, refetch } = useQuery(usageOf(organizationId, period));
  const { data: projects = [] } = useQuery(allProjects());
  const projectNames = new Map(projects.map(({ id, name }) => [id, name]));
  return (
    <>
      <PageHeader
        title="Usage and cost"
        description="Of all projects that you may see. A day is closed shortly after midnight UTC."
        actions={
          <>
            <Select
              aria-label="Period"
              className="w-auto!"
              value={count}
              onChange={({ target }) => setCount(Number(target.value))}
            >
              {PERIODS.map((days) => (
                <option key={days} value={days}>{`Last ${days} days`}</option>
              ))}
            </Select>
            <Select
              aria-label="Grouped by"
              className="w-auto!"
              value={by}
              onChange={({ target }) => setBy(target.value as Grouping)}
            >
              <option value="resource_type">By type</option>
              <option value="project_id">By project</option>
            </Select>
            <Button
              disabled={!items?.length}
              onClick={() =>
                download(`usage-${period.end_date}.csv`, usageCsv(items ?? [], projectNames))
              }
            >
              Export as CSV
            </Button>
          </>
        }
      />
      {error && <ErrorNote error={error} onRetry={() => void refetch()} />}
      {!items && !error && <Loading what="the usage" />}
      {items?.length === 0 && (
        <EmptyState title="There is no usage in this period">
          The usage of a day appears here after the day has ended.
        </EmptyState>
      )}
      {items !== undefined && items.length > 0 && (
        <UsagePanel items={items} by={by} dates={dates} projectNames={projectNames} />
      )}
    </>
  );
}

type UsagePanelProps = {
  items: UsageItem[];
  by: Grouping;
  dates: string[];
  projectNames: ReadonlyMap<string, string>;
};

function UsagePanel({ items, by, dates, projectNames }: UsagePanelProps) {
  const stacks = stackUsage(items, by, dates);
  const nameOf = (key: string) => (by === 'project_id' ? (projectNames.get(key) ?? key) : key);
  return (
    <Panel
      title="Cost per day"
      actions={<span className="font-semibold">{formatAmount(stacks.total)} in this period</span>}
    >
      <CostChart stacks={stacks} nameOf={nameOf} />
      <table className="mt-4 w-full text-sm" aria-label="Cost of the period">
        <tbody>
          {stacks.groups.map(({ key, total }, index) => (
            <tr key={key} className="border-t border-line">
              <th scope="row" className="h-9 text-left font-medium">
                <svg aria-hidden="true" viewBox="0 0 10 10" className="mr-2 inline size-2.5">
                  <rect width="10" height="10" rx="2" fill={colourOf(index)} />
                </svg>
                {nameOf(key)}
              </th>
              <td className="text-right">{formatAmount(total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

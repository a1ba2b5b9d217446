import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ComponentType, ReactNode } from 'react';
import { me } from '../api/account-queries.ts';
import {
  ChartIcon,
  DiskIcon,
  HostIcon,
  KeyIcon,
  NetworkIcon,
  ServerIcon,
} from '../components/icons.tsx';
import {
  ListIcon,
  MapIcon,
  OfficeIcon,
  OverviewIcon,
  PersonIcon,
  PlusIcon,
  QuestionIcon,
  RolloutIcon,
  TagIcon,
} from '../components/operator-icons.tsx';
import { currentProject } from './current-project.ts';
import { ProjectPicker } from './project-picker.tsx';

/** The sections that a person may open. Operators have one more. */
export function Navigation() {
  const { data } = useQuery(me());
  const { projectId = currentProject() } = useParams({ strict: false });
  return (
    <nav aria-label="Main" className="flex flex-col gap-5">
      <Group title="Project">
        <ProjectPicker />
        {projectId !== undefined && (
          <ul className="mt-1.5 flex flex-col gap-px">
            <Item
              to="/projects/$projectId/vms"
              params={{ projectId }}
              icon={ServerIcon}
              label="Virtual machines"
            />
            <Item
              to="/projects/$projectId/disks"
              params={{ projectId }}
              icon={DiskIcon}
              label="Disks"
            />
            <Item
              to="/projects/$projectId/network"
              params={{ projectId }}
              icon={NetworkIcon}
              label="Network"
            />
            <Item
              to="/projects/$projectId/usage"
              params={{ projectId }}
              icon={ChartIcon}
              label="Usage and cost"
            />
            <Item
              to="/projects/$projectId/access"
              params={{ projectId }}
              icon={KeyIcon}
              label="Keys and members"
            />
          </ul>
        )}
      </Group>
      {data?.user.operator && (
        <Group title="Operations">
          <ul className="flex flex-col gap-px">
            <Item to="/operator/overview" icon={OverviewIcon} label="Overview" />
            <Item to="/operator/map" icon={MapIcon} label="Fleet map" />
            <Item to="/operator/hosts" icon={HostIcon} label="Hosts" />
            <Item to="/operator/rollouts" icon={RolloutIcon} label="Rollouts" />
            <Item to="/operator/why-not" icon={QuestionIcon} label="Why not?" />
            <Item to="/operator/join" icon={PlusIcon} label="Join a host" />
            <Item to="/operator/tenants" icon={OfficeIcon} label="Tenants" />
            <Item to="/operator/users" icon={PersonIcon} label="Users" />
            <Item to="/operator/catalogue" icon={TagIcon} label="Catalogue" />
            <Item to="/operator/audit-log" icon={ListIcon} label="Audit log" />
          </ul>
        </Group>
      )}
    </nav>
  );
}

function Group({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <h2 className="mb-1.5 px-2 text-xs font-medium text-muted">{title}</h2>
      {children}
    </div>
  );
}

type ItemProps = {
  to: string;
  params?: Record<string, string>;
  icon: ComponentType;
  label: string;
};

function Item({ to, params = {}, icon: Icon, label }: ItemProps) {
  return (
    <li>
      <Link
        to={to}
        params={params}
        className="flex h-8 items-center gap-2 rounded-md px-2 text-sm text-muted hover:bg-hover hover:text-text"
        activeProps={{ className: 'bg-hover font-medium !text-text' }}
      >
        <Icon />
        {label}
      </Link>
    </li>
  );
}

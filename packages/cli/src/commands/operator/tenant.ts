import type { Client, Schemas } from '@gantry/sdk';
import { buildCommand, buildRouteMap, numberParser } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { connect } from '../../config/connect.ts';
import { printList, printOne } from '../../terminal/print.ts';
import type { Style } from '../../terminal/style.ts';
import { organizationNames } from '../complete-names.ts';
import { findByName } from '../find-by-name.ts';
import {
  argument,
  type CommonFlags,
  commonFlags,
  optionalText,
  outputAlias,
  requiredText,
} from '../flags.ts';

type Organization = Schemas['AdminOrganization'];
type Quota = { type: string; max: number; used: number; available: number };

const tenantArgument = {
  kind: 'tuple',
  parameters: [argument('The name or the id of the organization', 'tenant', organizationNames)],
} as const;

async function findTenant(client: Client, wanted: string): Promise<Organization> {
  return await findByName('tenant', wanted, client.adminOrganizations.list({ limit: 1000 }));
}

async function projectsOf(client: Client, organization_id: string): Promise<Schemas['Project'][]> {
  const projects: Schemas['Project'][] = [];
  for await (const each of client.adminProjects.list({ limit: 1000 }))
    if (each.organization_id === organization_id) projects.push(each);
  return projects;
}

const STYLES: Record<Organization['standing'], Style> = {
  ...({ good: 'green', payment_problem: 'yellow', suspended: 'red' } as const),
};

const list = buildCommand<CommonFlags, [], CliContext>({
  docs: { brief: 'List the organizations' },
  parameters: { flags: commonFlags, aliases: outputAlias },
  async func(flags) {
    const { client } = await connect(this, flags);
    const tenants: Organization[] = [];
    for await (const each of client.adminOrganizations.list({ limit: 1000 })) tenants.push(each);
    printList(this, tenants, {
      ...{ format: flags.output, nothing: 'There are no organizations.' },
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        {
          title: 'STANDING',
          value: ({ standing }) => standing.replace('_', ' '),
          style: ({ standing }) => STYLES[standing],
        },
        { title: 'PAYMENT METHOD', value: ({ paid }) => (paid ? 'yes' : 'no') },
        { title: 'ID', value: ({ id }) => id },
      ],
    });
  },
});

const show = buildCommand<CommonFlags, [string], CliContext>({
  docs: { brief: 'Show an organization, its standing and its projects' },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: tenantArgument },
  async func(flags, wanted) {
    const { client } = await connect(this, flags);
    const tenant = await findTenant(client, wanted);
    const [standing, projects] = await Promise.all([
      client.standing.get({ organization_id: tenant.id }),
      projectsOf(client, tenant.id),
    ]);
    const fields = [
      ['Name', tenant.name],
      ['Id', tenant.id],
      ['Payment method', tenant.paid ? 'yes' : 'no'],
      ...standingFields(standing),
      ...projects.map(({ name, id }) => ['Project', `${name} ${id}`] as const),
    ] as const;
    printOne(this, { ...tenant, ...standing, projects }, { format: flags.output, fields });
  },
});

function standingFields(standing: Schemas['Standing']) {
  return [
    ['Standing', standing.standing.replace('_', ' ')],
    ['Reason', standing.reason],
    ['Since', standing.since],
    ['Suspended at', standing.suspends_at],
    ['VMs stop at', standing.stops_vms_at],
  ] as const;
}

type SuspendFlags = CommonFlags & { reason: string; graceHours: number | undefined };

const suspend = buildCommand<SuspendFlags, [string], CliContext>({
  docs: {
    brief: 'Suspend an organization',
    fullDescription:
      'It cannot create or start VMs, and its running VMs are stopped after a period of grace.',
  },
  parameters: {
    flags: {
      ...commonFlags,
      reason: requiredText('What the tenant reads', 'text'),
      graceHours: {
        ...({ kind: 'parsed', parse: numberParser, optional: true, placeholder: 'n' } as const),
        brief: 'How many hours running VMs continue (default: 24)',
      },
    },
    ...{ aliases: outputAlias, positional: tenantArgument },
  },
  async func({ reason, graceHours, ...flags }, wanted) {
    const { client } = await connect(this, flags);
    const { id: organization_id } = await findTenant(client, wanted);
    const body = { reason, ...(graceHours !== undefined && { grace_hours: graceHours }) };
    const standing = await client.adminOrganizations.suspend({ organization_id, body });
    printOne(this, standing, { format: flags.output, fields: standingFields(standing) });
  },
});

const resume = buildCommand<CommonFlags, [string], CliContext>({
  docs: {
    brief: 'End the suspension of an organization',
    fullDescription: 'Forgives a payment problem too. VMs that were stopped stay stopped.',
  },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: tenantArgument },
  async func(flags, wanted) {
    const { client } = await connect(this, flags);
    const { id: organization_id } = await findTenant(client, wanted);
    const standing = await client.adminOrganizations.resume({ organization_id });
    printOne(this, standing, { format: flags.output, fields: standingFields(standing) });
  },
});

type Maximum = { type: string; max: number };
type QuotaFlags = CommonFlags & {
  project: string | undefined;
  set: readonly Maximum[] | undefined;
};

function parseMaximum(text: string): Maximum {
  const [, type, max] = /^([a-z_]+)=(\d+)$/.exec(text) ?? [];
  if (type === undefined) throw new Error('a quota is written as type=maximum, such as vms=10');
  return { type, max: Number(max) };
}

const quota = buildCommand<QuotaFlags, [string], CliContext>({
  docs: {
    brief: 'Show or set the quotas of an organization, or of a project of it',
    customUsage: ['acme', 'acme --set vms=20 --set gpus=64', 'acme --project vision --set vms=5'],
  },
  parameters: {
    flags: {
      ...commonFlags,
      project: optionalText('The quotas of this project, by name or id', 'project'),
      set: {
        ...({ kind: 'parsed', parse: parseMaximum, variadic: true, optional: true } as const),
        ...{ brief: 'A new maximum; may be repeated', placeholder: 'type=maximum' },
      },
    },
    ...{ aliases: outputAlias, positional: tenantArgument },
  },
  async func({ project, set, ...flags }, wanted) {
    const { client } = await connect(this, flags);
    const { id: organization_id } = await findTenant(client, wanted);
    const body = set && Object.fromEntries(set.map(({ type, max }) => [type, max]));
    const quotas =
      project === undefined
        ? await organizationQuotas(client, organization_id, body)
        : await projectQuotas(client, { organization_id, project }, body);
    printList<Quota>(this, quotas, {
      ...{ format: flags.output, nothing: 'There are no quotas.' },
      columns: [
        { title: 'TYPE', value: ({ type }) => type },
        { title: 'MAXIMUM', value: ({ max }) => String(max) },
        { title: 'USED', value: ({ used }) => String(used) },
        { title: 'AVAILABLE', value: ({ available }) => String(available) },
      ],
    });
  },
});

type Body = Record<string, number> | undefined;

async function organizationQuotas(client: Client, organization_id: string, body: Body) {
  const { adminOrganizationQuotas: api } = client;
  const reply = body ? api.set({ organization_id, body }) : api.list({ organization_id });
  return (await reply).quotas;
}

async function projectQuotas(
  client: Client,
  { organization_id, project }: { organization_id: string; project: string },
  body: Body,
) {
  const projects = await projectsOf(client, organization_id);
  const { id: project_id } = await findByName('project', project, projects);
  const { adminQuotas: api } = client;
  return (await (body ? api.set({ project_id, body }) : api.list({ project_id }))).quotas;
}

export const tenantRoutes = buildRouteMap({
  routes: { list, show, suspend, resume, quota },
  docs: { brief: 'Organizations (for operators)' },
});

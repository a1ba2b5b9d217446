import { CloudError, notFound } from '@gantry/model/errors';
import {
  type OperatorRole,
  operatorRoleReaches,
  type Role,
  roleReaches,
} from '@gantry/model/states';
import type { Caller, Callers } from './caller.ts';

/** Who may call a route. Every route must state it; there is no default. */
export type Access =
  | { level: 'public' }
  | { level: 'authenticated' }
  | { level: 'organization'; role: Role }
  | { level: 'project'; role: Role }
  | { level: 'operator'; role: OperatorRole };

/** What the caller may access in this request. An id is empty if the path of the route has none. */
export type Scope = { organizationId: string; projectId: string; role: Role; paid: boolean };

const NO_SCOPE = { organizationId: '', projectId: '', paid: true };

type Authorization = {
  access: Access;
  caller: Caller;
  params: Record<string, string>;
  callers: Callers;
};

/**
 * Returns the caller's role in the organization or project of the route. Throws not_found if the
 * caller has no role there, and forbidden if the role is too low.
 */
export async function authorize({
  access,
  caller,
  params,
  callers,
}: Authorization): Promise<Scope> {
  switch (access.level) {
    case 'public':
      return { ...NO_SCOPE, role: 'read-only' };
    case 'authenticated':
      return {
        ...NO_SCOPE,
        role: roleOfOperator(caller) ?? 'read-only',
        paid: anyPaid(caller),
      };
    case 'operator': {
      const role = roleOfOperator(caller);
      if (!role || caller.type !== 'user') throw forbidden('operator');
      if (!operatorRoleReaches(caller.grant.operator_role, access.role)) {
        throw new CloudError('forbidden', `this request needs the operator role ${access.role}`);
      }
      return { ...NO_SCOPE, role };
    }
    case 'organization': {
      const organizationId = params['organization_id'] ?? '';
      const role = organizationRole(caller, organizationId);
      const scope = role && (await callers.organizationScope(organizationId));
      if (!role || !scope) throw notFound('organization');
      if (!roleReaches(role, access.role)) throw forbidden(access.role);
      return { organizationId, projectId: '', role, paid: scope.paid };
    }
    case 'project': {
      const projectId = params['project_id'] ?? '';
      const scope = await projectScope(caller, projectId, callers);
      if (!scope) throw notFound('project');
      if (!roleReaches(scope.role, access.role)) throw forbidden(access.role);
      return scope;
    }
  }
}

async function projectScope(
  caller: Caller,
  projectId: string,
  callers: Callers,
): Promise<Scope | undefined> {
  if (caller.type === 'access_key') {
    const { project_id, organization_id, role, paid } = caller.grant;
    return project_id === projectId
      ? { projectId, organizationId: organization_id, role, paid }
      : undefined;
  }
  const scope = await callers.projectScope(projectId);
  if (!scope) return undefined;
  const roles = caller.grant.memberships
    .filter(({ organization_id, project_id }) =>
      project_id === null ? organization_id === scope.organization_id : project_id === projectId,
    )
    .map(({ role }) => role);
  const role = strongest([roleOfOperator(caller), ...roles]);
  return role && { projectId, organizationId: scope.organization_id, role, paid: scope.paid };
}

/** A key or a member of one project has the same role in the organization of the project. */
export function organizationRole(caller: Caller, organizationId: string): Role | undefined {
  if (caller.type === 'access_key') {
    return caller.grant.organization_id === organizationId ? caller.grant.role : undefined;
  }
  const { memberships } = caller.grant;
  const roles = memberships
    .filter((m) => m.organization_id === organizationId)
    .map(({ role }) => role);
  return strongest([roleOfOperator(caller), ...roles]);
}

/** Returns the projects of an organization that the caller may see; undefined means all of them. */
export function visibleProjects(caller: Caller, organizationId: string): string[] | undefined {
  if (caller.type === 'access_key') return [caller.grant.project_id];
  const role = organizationRole(caller, organizationId);
  if (role && (roleReaches(role, 'owner') || roleOfOperator(caller))) return undefined;
  return caller.grant.memberships.flatMap((m) =>
    m.organization_id === organizationId && m.project_id !== null ? [m.project_id] : [],
  );
}

/** The role that operators have in every organization and project. */
const ROLE_IN_TENANTS: Record<OperatorRole, Role> = {
  'read-only': 'read-only',
  support: 'owner',
  admin: 'operator',
};

function roleOfOperator(caller: Caller): Role | undefined {
  if (caller.type !== 'user' || !caller.grant.operator) return undefined;
  return ROLE_IN_TENANTS[caller.grant.operator_role];
}

function strongest(roles: (Role | undefined)[]): Role | undefined {
  return roles.reduce<Role | undefined>(
    (best, role) => (role && (best === undefined || roleReaches(role, best)) ? role : best),
    undefined,
  );
}

function anyPaid(caller: Caller): boolean {
  if (caller.type === 'access_key') return caller.grant.paid;
  const { operator, memberships } = caller.grant;
  return operator || memberships.length === 0 || memberships.some(({ paid }) => paid);
}

function forbidden(needed: Role): CloudError {
  return new CloudError('forbidden', `this request needs the role ${needed}`);
}

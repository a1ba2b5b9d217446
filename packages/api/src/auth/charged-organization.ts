import type { Caller } from './caller.ts';

/**
 * Returns the organization whose share of the installation a request uses: that of the access key, that
 * of the path, or the caller's oldest one. Operators use no organization's share, so that they can help
 * one that has used up its own.
 */
export function chargedOrganization(
  caller: Caller,
  organizationIdOfPath: string,
): string | undefined {
  if (caller.type === 'access_key') return caller.grant.organization_id;
  if (isOperator(caller)) return undefined;
  if (organizationIdOfPath) return organizationIdOfPath;
  return caller.grant.memberships.map(({ organization_id }) => organization_id).sort()[0];
}

export function isOperator(caller: Caller): boolean {
  return caller.type === 'user' && caller.grant.operator;
}

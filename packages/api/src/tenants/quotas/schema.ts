import { ORGANIZATION_QUOTA_TYPES, QUOTA_TYPES } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';

const QuotaType = z.enum(QUOTA_TYPES);

export const Quotas = z
  .object({
    quotas: z.array(
      z
        .object({ type: QuotaType, max: z.int(), used: z.int(), available: z.int() })
        .openapi('Quota'),
    ),
  })
  .openapi('Quotas');

/** The new maximum by type; types that are absent keep theirs. */
export const ChangeQuotas = z
  .partialRecord(QuotaType, z.int().min(0, 'must not be negative'))
  .openapi('ChangeQuotas');

const OrganizationQuotaType = z.enum(ORGANIZATION_QUOTA_TYPES);

export const OrganizationQuotas = z
  .object({
    quotas: z.array(
      z
        .object({
          ...{ type: OrganizationQuotaType, max: z.int(), used: z.int(), available: z.int() },
        })
        .openapi('OrganizationQuota'),
    ),
  })
  .openapi('OrganizationQuotas');

/** The new maximum by type; types that are absent keep theirs. */
export const ChangeOrganizationQuotas = z
  .partialRecord(OrganizationQuotaType, z.int().min(0, 'must not be negative'))
  .openapi('ChangeOrganizationQuotas');

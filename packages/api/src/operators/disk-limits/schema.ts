import { LIMITED_DISK_TYPES } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import { CatalogueName, Items, Timestamp } from '../../http/fields.ts';

/** QEMU accepts no larger values together with a burst. */
const MOST_IOPS = 10_000_000;
const MOST_BYTES_PER_SECOND = 1_000_000_000_000;
const MOST_BURST_PERCENT = 1_000;
const MOST_BURST_SECONDS = 60;

const Limit = (most: number, description: string) =>
  z
    .int('must be a whole number')
    .min(0, 'must not be negative')
    .max(most, `must be at most ${most}`)
    .default(0)
    .openapi({ description: `${description} Zero: no limit.` });
const Iops = (what: string) => Limit(MOST_IOPS, `Requests per second ${what}.`);
const Bytes = (what: string) => Limit(MOST_BYTES_PER_SECOND, `Bytes per second ${what}.`);

const LIMITS = {
  total_iops: Iops('for reading and writing together'),
  read_iops: Iops('for reading'),
  write_iops: Iops('for writing'),
  total_bytes_per_second: Bytes('for reading and writing together'),
  read_bytes_per_second: Bytes('for reading'),
  write_bytes_per_second: Bytes('for writing'),
  iops_per_gib: Iops('that are added to total_iops for each GiB of the disk'),
  bytes_per_second_per_gib: Bytes(
    'that are added to total_bytes_per_second for each GiB of the disk',
  ),
  burst_percent: z
    .int('must be a whole number')
    .refine(
      (percent) => percent === 0 || (percent > 100 && percent <= MOST_BURST_PERCENT),
      `must be 0, or more than 100 and at most ${MOST_BURST_PERCENT}`,
    )
    .default(0)
    .openapi({
      description: 'The share of its limits that a disk can use for a short time. Zero: no bursts.',
    }),
  burst_seconds: z
    .int('must be a whole number')
    .min(0, 'must not be negative')
    .max(MOST_BURST_SECONDS, `must be at most ${MOST_BURST_SECONDS}`)
    .default(0)
    .openapi({ description: 'How long a burst lasts. Zero: one second, if there are bursts.' }),
};

export const SetDiskLimits = z
  .strictObject(LIMITS)
  .superRefine((body, context) => {
    const refuse = (field: keyof typeof LIMITS, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message });
    for (const unit of ['iops', 'bytes_per_second'] as const) {
      if (body[`total_${unit}`] + body[`${unit}_per_gib`] === 0) continue;
      const message = `must be 0 if total_${unit} or ${unit}_per_gib is set`;
      if (body[`read_${unit}`] > 0) refuse(`read_${unit}`, message);
      if (body[`write_${unit}`] > 0) refuse(`write_${unit}`, message);
    }
    const { burst_percent, burst_seconds, ...limits } = body;
    if (burst_percent > 0 && Object.values(limits).every((limit) => limit === 0)) {
      refuse('burst_percent', 'must be 0 without a limit');
    }
    if (burst_seconds > 0 && burst_percent === 0) {
      refuse('burst_seconds', 'must be 0 without burst_percent');
    }
  })
  .openapi('SetDiskLimits');

export const DiskLimits = z
  .object({
    disk_type: z.enum(LIMITED_DISK_TYPES),
    ...(Object.fromEntries(Object.keys(LIMITS).map((name) => [name, z.int()])) as {
      [name in keyof typeof LIMITS]: z.ZodInt;
    }),
    updated_at: Timestamp,
  })
  .openapi('DiskLimits');
export const AllDiskLimits = Items(DiskLimits);
export const DiskLimitsParams = z.object({ disk_type: CatalogueName });

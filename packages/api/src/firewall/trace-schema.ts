import { parseIpv4 } from '@gantry/model/cidr';
import { TRACE_REASONS } from '@gantry/model/firewall/trace-packet';
import { DIRECTIONS, FIREWALL_RULE_STATES, PROTOCOLS } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import { Id, ReplyId, ReplyIdOrEmpty } from '../http/fields.ts';

const TracedEnd = z
  .string()
  .toLowerCase()
  .refine(
    (text) => Id.safeParse(text).success || parseIpv4(text) !== undefined,
    'must be the id of a VM, or an IPv4 address',
  )
  .openapi({ description: 'The id of a VM of the project, or an IPv4 address.' });

const Port = z
  .int()
  .min(1, 'must be a port from 1 to 65535')
  .max(65_535, 'must be a port from 1 to 65535');

/** The first of those that programs get who ask for none (RFC 6335). */
export const EPHEMERAL_PORT = 49_152;

export const TraceFirewall = z
  .strictObject({
    from: TracedEnd,
    to: TracedEnd,
    protocol: z.enum(PROTOCOLS),
    port: Port.optional().openapi({ description: 'Of the destination; left out with icmp.' }),
    source_port: Port.optional().openapi({
      description: `For rules that tell source ports apart. Left out: ${EPHEMERAL_PORT}.`,
    }),
  })
  .superRefine(({ protocol, ...ports }, context) => {
    if (protocol !== 'icmp') {
      if (ports.port !== undefined) return;
      const message = `must be given with ${protocol}`;
      context.addIssue({ code: 'custom', path: ['port'], message });
      return;
    }
    const message = 'must be left out: icmp has no ports';
    for (const member of ['port', 'source_port'] as const) {
      if (ports[member] === undefined) continue;
      context.addIssue({ code: 'custom', path: [member], message });
    }
  })
  .openapi('TraceFirewall');

export const FirewallTrace = z
  .object({
    allowed: z.boolean(),
    reason: z.enum(TRACE_REASONS).openapi({ description: 'Of the first step that is in the way.' }),
    settled: z.boolean().openapi({
      description:
        'False: rules of these networks are on their way to hosts; packets may still fare otherwise.',
    }),
    steps: z
      .array(
        z.object({
          direction: z.enum(DIRECTIONS),
          vpc_network_id: ReplyId,
          source: z.string(),
          destination: z.string(),
          allowed: z.boolean(),
          rule_id: ReplyIdOrEmpty.openapi({ description: 'Empty: no rule allows it.' }),
          rule_name: z.string(),
          rule_state: z.union([z.enum(FIREWALL_RULE_STATES), z.literal('')]),
        }),
      )
      .openapi({
        description:
          'What the packet has to pass, in order, with the addresses it has there. Each is judged by itself.',
      }),
  })
  .openapi('FirewallTrace');

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

/**
 * The first dynamic port (RFC 6335): programs that do not choose a source port get one of these.
 */
export const EPHEMERAL_PORT = 49_152;

export const TraceFirewall = z
  .strictObject({
    from: TracedEnd,
    to: TracedEnd,
    protocol: z.enum(PROTOCOLS),
    port: Port.optional().openapi({
      description: 'The destination port; required unless the protocol is icmp.',
    }),
    source_port: Port.optional().openapi({
      description: `For rules that match source ports; ${EPHEMERAL_PORT} by default.`,
    }),
  })
  .superRefine(({ protocol, ...ports }, context) => {
    if (protocol !== 'icmp') {
      if (ports.port !== undefined) return;
      const message = `is required with ${protocol}`;
      context.addIssue({ code: 'custom', path: ['port'], message });
      return;
    }
    const message = 'must be absent, because icmp has no ports';
    for (const member of ['port', 'source_port'] as const) {
      if (ports[member] === undefined) continue;
      context.addIssue({ code: 'custom', path: [member], message });
    }
  })
  .openapi('TraceFirewall');

export const FirewallTrace = z
  .object({
    allowed: z.boolean(),
    reason: z.enum(TRACE_REASONS).openapi({
      description: 'Why the packet passes, or why the first step that blocks it does so.',
    }),
    settled: z.boolean().openapi({
      description:
        'False if a host has not applied a change of these rules yet, so that it may still act ' +
        'differently.',
    }),
    steps: z
      .array(
        z.object({
          direction: z.enum(DIRECTIONS),
          vpc_network_id: ReplyId,
          source: z.string(),
          destination: z.string(),
          allowed: z.boolean(),
          rule_id: ReplyIdOrEmpty.openapi({
            description: 'The rule that decides; empty if no rule matches.',
          }),
          rule_name: z.string(),
          rule_state: z.union([z.enum(FIREWALL_RULE_STATES), z.literal('')]),
        }),
      )
      .openapi({
        description:
          'The checks on the way of the packet, in order, with its addresses at each. Each is ' +
          'judged alone.',
      }),
  })
  .openapi('FirewallTrace');

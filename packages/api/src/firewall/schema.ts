import { canonicalEndpointCidr } from '@gantry/model/cidr';
import { parsePorts } from '@gantry/model/ports';
import { ACTIONS, DIRECTIONS, FIREWALL_RULE_STATES, PROTOCOLS } from '@gantry/model/states';
import { z } from '@hono/zod-openapi';
import { Id, Name, Page, ReplyId, ReplyIdOrEmpty } from '../http/fields.ts';
import { ReplyTags, Tags } from '../http/tags.ts';

const Protocol = z.enum(PROTOCOLS);

export const FirewallRule = z
  .object({
    id: ReplyId,
    name: z.string(),
    direction: z.enum(DIRECTIONS),
    action: z.enum(ACTIONS),
    vpc_network_id: ReplyId,
    state: z.enum(FIREWALL_RULE_STATES),
    sources: z.array(z.object({ resource_id: ReplyIdOrEmpty, cidr: z.string() })),
    source_ports: z.array(z.string()),
    destinations: z.array(z.object({ resource_id: ReplyIdOrEmpty, cidr: z.string() })),
    destination_ports: z.array(z.string()),
    protocols: z.array(Protocol),
    tags: ReplyTags,
  })
  .openapi('FirewallRule');

export const FirewallRulePage = Page(FirewallRule);

const MAX_ENTRIES = 64;
const entries = <Entry extends z.ZodType>(entry: Entry) =>
  z.array(entry).max(MAX_ENTRIES, `must have at most ${MAX_ENTRIES} entries`);

/**
 * If both members are empty, the endpoint is any address. The cidr is kept as sent, for the echo.
 */
const Endpoint = z
  .strictObject({
    resource_id: z.union([z.literal(''), Id], 'must be a UUID').default(''),
    cidr: z
      .string()
      .refine(
        (cidr) => cidr === '' || canonicalEndpointCidr(cidr) !== undefined,
        'must be an IPv4 address, or a block such as 10.0.0.0/8 without bits beyond its prefix',
      )
      .default(''),
  })
  .refine((endpoint) => endpoint.resource_id === '' || endpoint.cidr === '', {
    path: ['cidr'],
    message: 'must be empty if resource_id is set: an endpoint has one of the two',
  })
  .openapi('FirewallRuleEndpoint');

const Endpoints = entries(Endpoint).openapi({ description: 'An empty list means any address.' });

const Ports = entries(
  z
    .string()
    .refine(
      (ports) => parsePorts(ports) !== undefined,
      'must be a port from 1 to 65535, a range such as "3000-8080", or "*"',
    ),
).openapi({ description: 'An empty list means every port.', example: ['22', '3000-8080'] });

const Protocols = z
  .array(Protocol)
  .min(1, 'must not be empty')
  .refine((names) => new Set(names).size === names.length, 'must name each protocol once');

export const CreateFirewallRule = z
  .strictObject({
    name: Name,
    vpc_network_id: Id,
    action: z.enum(ACTIONS),
    direction: z.enum(DIRECTIONS),
    protocols: Protocols,
    sources: Endpoints,
    source_ports: Ports.default([]),
    destinations: Endpoints,
    destination_ports: Ports.default([]),
    tags: Tags.optional(),
  })
  .openapi('CreateFirewallRule');

export const ChangeFirewallRule = z
  .strictObject({
    name: Name.optional(),
    protocols: Protocols.optional(),
    sources: Endpoints.optional(),
    source_ports: Ports.optional(),
    destinations: Endpoints.optional(),
    destination_ports: Ports.optional(),
    tags: Tags.optional(),
  })
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    message: 'must change at least one member',
  })
  .openapi('ChangeFirewallRule');

export const FirewallRuleParams = z.object({ project_id: Id, rule_id: Id });

import { isPrivate, parseCidr } from '@gantry/model/cidr';
import { z } from '@hono/zod-openapi';
import { CatalogueName, Id, Name, Page, ReplyId } from '../http/fields.ts';
import { NameOrTags, ReplyTags, Tags } from '../http/tags.ts';

export const Network = z
  .object({
    id: ReplyId,
    name: z.string(),
    cidr: z.string(),
    gateway: z.string(),
    subnets: z.array(ReplyId),
    tags: ReplyTags,
  })
  .openapi('Network');
export const NetworkPage = Page(Network);

export const Subnet = z
  .object({
    id: ReplyId,
    name: z.string(),
    cidr: z.string(),
    location: z.string(),
    vpc_network_id: ReplyId,
    tags: ReplyTags,
  })
  .openapi('Subnet');
export const SubnetPage = Page(Subnet);

type PrefixLimits = { smallest: number; largest: number };

const Block = ({ smallest, largest }: PrefixLimits) =>
  z
    .string()
    .superRefine((text, context) => {
      const block = parseCidr(text);
      const problem = !block
        ? 'must be an IPv4 block such as 10.0.0.0/16, without bits beyond its prefix'
        : block.prefix < smallest || block.prefix > largest
          ? `must have a prefix from /${smallest} to /${largest}`
          : !isPrivate(block) && 'must be inside 10.0.0.0/8, 172.16.0.0/12 or 192.168.0.0/16';
      if (problem) context.addIssue({ code: 'custom', message: problem });
    })
    .openapi({ example: '10.0.0.0/16' });

export const CreateNetwork = z
  .strictObject({
    name: Name,
    cidr: Block({ smallest: 8, largest: 28 }),
    tags: Tags.optional(),
  })
  .openapi('CreateNetwork');

/** Hosts and VMs depend on everything else, so it cannot change. */
export const ChangeNetwork = NameOrTags.openapi('ChangeNetwork');
export const ChangeSubnet = NameOrTags.openapi('ChangeSubnet');

export const CreateSubnet = z
  .strictObject({
    name: Name,
    // VMs never get six of a subnet's addresses, so a block smaller than a /29 has none left.
    cidr: Block({ smallest: 8, largest: 29 }),
    location: CatalogueName,
    vpc_network_id: Id,
    tags: Tags.optional(),
  })
  .openapi('CreateSubnet');

export const NetworkParams = z.object({ project_id: Id, network_id: Id });
export const SubnetParams = z.object({ project_id: Id, subnet_id: Id });

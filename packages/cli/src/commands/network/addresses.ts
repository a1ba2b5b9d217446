import type { Schemas } from '@gantry/sdk';
import { buildCommand, buildRouteMap } from '@stricli/core';
import type { CliContext } from '../../cli-context.ts';
import { UsageError } from '../../cli-errors.ts';
import { connectToProject, type ProjectConnection } from '../../config/connect.ts';
import { printList, printOne } from '../../terminal/print.ts';
import { addressNames, locationNames, vmNames } from '../complete-names.ts';
import { confirm, type YesFlag, yesFlag } from '../confirm.ts';
import { findByName } from '../find-by-name.ts';
import { finishOperation } from '../finish-operation.ts';
import { argument, type CommonFlags, commonFlags, outputAlias, requiredText } from '../flags.ts';
import { showTags, type Tag, tagFlag, tagObject } from '../tags.ts';
import { findVm } from '../vm/vm.ts';

type Address = Schemas['ReservedAddress'];

const addressParameter = argument('The name or the id of the address', 'address', addressNames);
const addressArgument = { kind: 'tuple', parameters: [addressParameter] } as const;

async function findAddress(
  { client, project_id }: ProjectConnection,
  wanted: string,
): Promise<Address> {
  return await findByName('address', wanted, client.publicAddresses.list({ project_id }));
}

const list = buildCommand<CommonFlags, [], CliContext>({
  docs: { brief: 'List reserved public addresses' },
  parameters: { flags: commonFlags, aliases: outputAlias },
  async func(flags) {
    const { client, project_id } = await connectToProject(this, flags);
    const addresses: Address[] = [];
    for await (const each of client.publicAddresses.list({ project_id })) addresses.push(each);
    printList(this, addresses, {
      ...{ format: flags.output, nothing: 'There are no reserved addresses.' },
      columns: [
        { title: 'NAME', value: ({ name }) => name },
        { title: 'ADDRESS', value: ({ address }) => address },
        { title: 'LOCATION', value: ({ location }) => location },
        { title: 'VM', value: ({ vm_id }) => vm_id },
        { title: 'TAGS', value: ({ tags }) => showTags(tags), isExtra: true },
        { title: 'ID', value: ({ id }) => id, isExtra: true },
      ],
    });
  },
});

const show = buildCommand<CommonFlags, [string], CliContext>({
  docs: { brief: 'Show a reserved public address' },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: addressArgument },
  async func(flags, wanted) {
    const address = await findAddress(await connectToProject(this, flags), wanted);
    printOne(this, address, { format: flags.output, fields: addressFields(address) });
  },
});

type ReserveFlags = CommonFlags & { location: string; tag: readonly Tag[] | undefined };

const reserve = buildCommand<ReserveFlags, [string], CliContext>({
  docs: {
    brief: 'Reserve a public address',
    fullDescription:
      'It belongs to the project until you release it. Give it to a new VM: gantry vm create … ' +
      '--public-address NAME',
  },
  parameters: {
    flags: {
      ...commonFlags,
      location: requiredText('The location of the VMs that will use it', 'location', locationNames),
      tag: tagFlag('A tag of the address; may be repeated'),
    },
    aliases: outputAlias,
    positional: { kind: 'tuple', parameters: [argument('The name of the new address', 'name')] },
  },
  async func({ location, tag, ...flags }, name) {
    const { client, project_id } = await connectToProject(this, flags);
    const body = { name, location, ...(tag && { tags: tagObject(tag) }) };
    const address = await client.publicAddresses.create({ project_id, body });
    printOne(this, address, { format: flags.output, fields: addressFields(address) });
  },
});

function addressFields({ id, name, address, location, vm_id, tags, created_at }: Address) {
  return [
    ['Name', name],
    ['Id', id],
    ['Address', address],
    ['Location', location],
    ['VM', vm_id],
    ['Tags', showTags(tags)],
    ['Created', created_at],
  ] as const;
}

const attach = buildCommand<CommonFlags, [string, string], CliContext>({
  docs: {
    brief: 'Attach a reserved address to a stopped VM',
    fullDescription: 'The VM has the address from its next start on, instead of a dynamic one.',
  },
  parameters: {
    ...{ flags: commonFlags, aliases: outputAlias },
    positional: {
      kind: 'tuple',
      parameters: [addressParameter, argument('The name or the id of the VM', 'vm', vmNames)],
    },
  },
  async func(flags, wanted, wantedVm) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id: address_id, name } = await findAddress(connection, wanted);
    const { id: vm_id } = await findVm(connection, wantedVm);
    const body = { address_id };
    const { operation } = await client.vms.attachPublicAddress({ project_id, vm_id, body });
    await finishOperation(this, connection, {
      ...{ operation, title: `attach ${name}`, flags: { ...flags, wait: true } },
    });
  },
});

const detach = buildCommand<CommonFlags, [string], CliContext>({
  docs: {
    brief: 'Detach a reserved address from its stopped VM',
    fullDescription: 'The project keeps the address.',
  },
  parameters: { flags: commonFlags, aliases: outputAlias, positional: addressArgument },
  async func(flags, wanted) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id: address_id, name, vm_id } = await findAddress(connection, wanted);
    if (vm_id === '') throw new UsageError(`the address ${name} is attached to no VM`);
    const body = { address_id };
    const { operation } = await client.vms.detachPublicAddress({ project_id, vm_id, body });
    await finishOperation(this, connection, {
      ...{ operation, title: `detach ${name}`, flags: { ...flags, wait: true } },
    });
  },
});

const release = buildCommand<CommonFlags & YesFlag, [string], CliContext>({
  docs: {
    brief: 'Release a reserved address: another project may get it',
    fullDescription: 'An address that is attached is refused. On a terminal it asks first.',
  },
  parameters: {
    flags: { ...commonFlags, ...yesFlag },
    aliases: { ...outputAlias, y: 'yes' },
    positional: addressArgument,
  },
  async func(flags, wanted) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id: address_id, name, address } = await findAddress(connection, wanted);
    await confirm(this, flags, `Release the address ${name} (${address})?`);
    const released = await client.publicAddresses.delete({ project_id, address_id });
    if (flags.output !== 'table') printOne(this, released, { format: flags.output, fields: [] });
  },
});

const rename = buildCommand<CommonFlags, [string, string], CliContext>({
  docs: { brief: 'Rename a reserved address' },
  parameters: {
    ...{ flags: commonFlags, aliases: outputAlias },
    positional: {
      kind: 'tuple',
      parameters: [addressParameter, argument('The new name', 'name')],
    },
  },
  async func(flags, wanted, name) {
    const connection = await connectToProject(this, flags);
    const { client, project_id } = connection;
    const { id: address_id } = await findAddress(connection, wanted);
    const body = { name };
    const address = await client.publicAddresses.change({ project_id, address_id, body });
    printOne(this, address, { format: flags.output, fields: addressFields(address) });
  },
});

export const addressRoutes = buildRouteMap({
  routes: { list, show, reserve, attach, detach, release, rename },
  docs: { brief: 'Reserved public addresses' },
});

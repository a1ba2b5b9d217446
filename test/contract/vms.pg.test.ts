import { finishVm } from '@gantry/testkit/make/finished';
import { LOCATION, vmBody } from '@gantry/testkit/make/request-bodies';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  attachDisk,
  defaultNetworkOf,
  expectDescribed,
  expectFieldRefused,
  expectOptional,
  expectRefusal,
  expectRequired,
  type Fields,
  giveAddresses,
  makeDisk,
  makeVm,
  membersOf,
  type OpenApi,
  operationOf,
  readOpenApi,
  schemaOf,
  startWorld,
  TIMESTAMP,
  UUID,
  type World,
} from './support.ts';

let world: World;
let document: OpenApi;
/** A running VM with both addresses and a data disk. */
let vm: Fields;
let disks: Fields[];
let networkInterface: Fields;
let ips: { private_ipv4: Fields; public_ipv4: Fields }[];

beforeAll(async () => {
  world = await startWorld();
  document = await readOpenApi(world.api);
  const vmId = await makeVm(world, { name: 'shown' });
  const diskId = await makeDisk(world, { name: 'data', size: '2TiB', block_size: 4096 });
  await attachDisk(world, { vmId, diskId });
  await giveAddresses(world, { vmId, privateIp: '172.27.0.10', publicIp: '203.0.113.10' });
  vm = (await world.get(`${world.P}/vms/${vmId}`)).body;
  disks = vm['disks'] as Fields[];
  [networkInterface] = vm['network_interfaces'] as [Fields];
  ips = networkInterface['ips'] as typeof ips;
});
afterAll(() => world.api.stop());

describe('docs/contract/vms.md#the-vm-object', () => {
  const required = (field: string) => {
    expect(schemaOf(document, 'Vm').required).toContain(field);
    return expect(vm[field], field);
  };

  it('a VM has the documented fields and no others', () =>
    expect(membersOf(vm)).toEqual(
      [
        'on_host_failure',
        ...['id', 'project_id', 'type', 'state', 'ssh_destination', 'created_at', 'updated_at'],
        ...['name', 'location', 'commitment_period', 'commitment_end', 'disks'],
        ...['network_interfaces', 'host_channel_adapters', 'virtualization_features'],
        ...['instance_template_id', 'instance_group_id', 'reservation_id', 'tags'],
      ].sort(),
    ));
  it('id is a UUID', () => required('id').toMatch(UUID));
  it('project_id is a UUID', () => required('project_id').toBe(world.tenant.projectId));
  it('type is a VM type', () => required('type').toBe('a40.1x'));
  it('state is one of the states', () => required('state').toBe('STATE_RUNNING'));
  it('ssh_destination is a string', () => required('ssh_destination').toBe('203.0.113.10'));
  it('created_at is a timestamp', () => required('created_at').toMatch(TIMESTAMP));
  it('updated_at is a timestamp', () => required('updated_at').toMatch(TIMESTAMP));
  it('name is a string', () => required('name').toBe('shown'));
  it('location is a string', () => required('location').toBe(LOCATION));
  it('commitment_period is 0 without a commitment', () => required('commitment_period').toBe(0));
  it('commitment_end is empty without a commitment', () => required('commitment_end').toBe(''));
  it('disks is an array of VM disks', () =>
    required('disks').toEqual([
      expect.objectContaining({ attachment_type: 'os' }),
      expect.objectContaining({ attachment_type: 'data' }),
    ]));
  it('network_interfaces is an array of network interfaces', () =>
    required('network_interfaces').toEqual([expect.objectContaining({ id: expect.any(String) })]));
  it('host_channel_adapters is an array of strings, which may be empty', () => {
    required('host_channel_adapters').toBeInstanceOf(Array);
    for (const adapter of vm['host_channel_adapters'] as unknown[]) {
      expect(adapter).toBeTypeOf('string');
    }
  });
  it('virtualization_features has nested_virtualization, a boolean', () =>
    required('virtualization_features').toEqual({ nested_virtualization: expect.any(Boolean) }));
  it('instance_template_id is the empty string when it is unset', () =>
    required('instance_template_id').toBe(''));
  it('instance_group_id is the empty string when it is unset', () =>
    required('instance_group_id').toBe(''));
  it('reservation_id is the empty string when it is unset', () =>
    required('reservation_id').toBe(''));
  it('tags is an object, which is empty when no tags are set', () => required('tags').toEqual({}));
});

describe('docs/contract/vms.md#vm-disk', () => {
  const values = (field: string) => expect(disks.map((disk) => disk[field]));

  it('has the documented fields and no others', () => {
    for (const disk of disks) {
      expect(membersOf(disk)).toEqual(
        [
          ...['id', 'name', 'type', 'size', 'location', 'block_size', 'created_at', 'updated_at'],
          ...['serial_number', 'attachment_type', 'mode'],
        ].sort(),
      );
    }
  });
  it('id is a UUID', () =>
    values('id').toEqual([expect.stringMatching(UUID), expect.stringMatching(UUID)]));
  it('name is a string', () => values('name').toEqual([expect.stringMatching(/./), 'data']));
  it('type is persistent-ssd or shared-volume', async () => {
    values('type').toEqual(['persistent-ssd', 'persistent-ssd']);
    const diskId = await makeDisk(world, { type: 'shared-volume' });
    const vmId = await makeVm(world);
    await attachDisk(world, { vmId, diskId });
    const { body } = await world.get(`${world.P}/vms/${vmId}`);
    expect(body.disks[1].type).toBe('shared-volume');
  });
  it('size is a number with GiB or TiB', () =>
    values('size').toEqual([expect.stringMatching(/^\d+(GiB|TiB)$/), '2TiB']));
  it('location is a string', () => values('location').toEqual([LOCATION, LOCATION]));
  it('block_size is an integer, 0 for the OS disk', () => values('block_size').toEqual([0, 4096]));
  it('created_at is a timestamp', () =>
    values('created_at').toEqual([
      expect.stringMatching(TIMESTAMP),
      expect.stringMatching(TIMESTAMP),
    ]));
  it('updated_at is a timestamp', () =>
    values('updated_at').toEqual([
      expect.stringMatching(TIMESTAMP),
      expect.stringMatching(TIMESTAMP),
    ]));
  it('serial_number is a string', () => {
    const [first, second] = disks.map((disk) => disk['serial_number']);
    expect(first).toMatch(/./);
    expect(second).toMatch(/./);
    expect(first).not.toBe(second);
  });
  it('attachment_type is os for the OS disk', () =>
    values('attachment_type').toEqual(['os', 'data']));
  it('mode is read-write', () => values('mode').toEqual(['read-write', 'read-write']));
});

describe('docs/contract/vms.md#network-interface', () => {
  it('has the documented fields and no others', () =>
    expect(membersOf(networkInterface)).toEqual(
      ['id', 'name', 'network', 'subnet', 'interface_type', 'mac_address', 'ips'].sort(),
    ));
  it('id is a UUID', () => expect(networkInterface['id']).toMatch(UUID));
  it('name is a string', () => expect(networkInterface['name']).toMatch(/./));
  it('network is the id of a network', async () =>
    expect(networkInterface['network']).toBe(await defaultNetworkOf(world)));
  it('subnet is the id of a subnet', async () => {
    const { body } = await world.get(`${world.P}/vpc/subnets/${networkInterface['subnet']}`);
    expect(body).toMatchObject({ location: LOCATION, vpc_network_id: networkInterface['network'] });
  });
  it('interface_type is Ethernet', () =>
    expect(networkInterface['interface_type']).toBe('Ethernet'));
  it('mac_address is a string', () =>
    expect(networkInterface['mac_address']).toMatch(/^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/));
  it('ips has objects with private_ipv4 and public_ipv4', () => {
    expect(ips).toHaveLength(1);
    for (const ip of ips) expect(membersOf(ip)).toEqual(['private_ipv4', 'public_ipv4']);
  });
  it('private_ipv4 has an address', () =>
    expect(ips[0]?.private_ipv4).toEqual({ address: '172.27.0.10' }));
  it('public_ipv4 has address, id and type', () =>
    expect(ips[0]?.public_ipv4).toEqual({
      ...{ address: '203.0.113.10', id: expect.stringMatching(UUID), type: 'dynamic' },
    }));
});

describe('docs/contract/vms.md#create-a-vm: request body', () => {
  const send = (body: Fields) => world.post(`${world.P}/vms`, body);
  const script = '#!/bin/sh\ntrue\n';
  const required = (field: string, wrong: unknown = 7) =>
    expectRequired({ send, body: vmBody(), field, wrong });

  it('name is required, a string', async () => {
    await required('name');
    const { metadata } = operationOf(await send(vmBody({ name: 'as-asked' })));
    expect((await world.get(`${world.P}/vms/${metadata.id}`)).body.name).toBe('as-asked');
  });
  it('type is required, a VM type', async () => {
    await required('type');
    const { metadata } = operationOf(await send(vmBody({ type: 'l40s-48gb.10x' })));
    expect((await world.get(`${world.P}/vms/${metadata.id}`)).body.type).toBe('l40s-48gb.10x');
    expectRefusal(await send(vmBody({ type: 'a40.3x' })), 422, 'unknown_type');
  });
  it('location is required, one that offers the type', async () => {
    await required('location');
    const { body: offered } = await world.get(`${world.P}/availabilities?product_name=a40.1x`);
    const { body: known } = await world.get('/locations');
    for (const location of [
      ...offered.items.map((item: Fields) => item['location']),
      ...known.items.map((item: Fields) => item['name']),
    ]) {
      const { metadata } = operationOf(await send(vmBody({ location })));
      expect((await world.get(`${world.P}/vms/${metadata.id}`)).body.location).toBe(location);
    }
    expectRefusal(await send(vmBody({ location: 'nowhere' })), 422, 'unknown_location');
  });
  it('image is required, the name of an image', async () => {
    await required('image');
    expectRefusal(await send(vmBody({ image: 'no-such-image' })), 422, 'unknown_image');
  });
  it('ssh_public_key is required without ssh_keys, in OpenSSH form', async () => {
    await required('ssh_public_key');
    expectFieldRefused(await send(vmBody({ ssh_public_key: 'not a key' })), 'ssh_public_key');
  });
  it('startup_script is optional, a string', () =>
    expectOptional({
      ...{ send, body: vmBody({ startup_script: script }), field: 'startup_script', wrong: 7 },
    }));
  it('shutdown_script is optional, a string', () =>
    expectOptional({
      ...{ send, body: vmBody({ shutdown_script: script }), field: 'shutdown_script', wrong: 7 },
    }));
  it('the OpenAPI document describes the same body', () => {
    const string = 'string';
    expectDescribed(document, 'CreateVm', {
      required: {
        name: string,
        type: string,
        location: string,
        image: string,
      },
      optional: {
        ssh_public_key: string,
        ssh_keys: 'array',
        user_data: string,
        disks: 'array',
        virtualization_features: 'object',
        startup_script: string,
        shutdown_script: string,
        network_interfaces: 'array',
        on_host_failure: string,
        tags: 'object',
      },
    });
  });
  it('both scripts are accepted', async () => {
    const body = vmBody({ startup_script: script, shutdown_script: script });
    expect(operationOf(await send(body)).metadata.request).toEqual(body);
  });
  it('the reply has the unfinished operation', async () =>
    expect(operationOf(await send(vmBody()))).toMatchObject({
      state: 'IN_PROGRESS',
      result: null,
    }));
});

describe('docs/contract/operations.md: VM operations', () => {
  it('a VM operation is read unwrapped, and metadata.id is the id of the VM', async () => {
    const opened = operationOf(await world.post(`${world.P}/vms`, vmBody()));
    const path = `${world.P}/vms/operations/${opened.operation_id}`;
    expect(await world.get(path)).toMatchObject({ status: 200, body: opened });
    await finishVm(world.api.sql, opened.metadata.id, 'running');
    const { body } = await world.get(path);
    expect(body).toMatchObject({ operation_id: opened.operation_id, state: 'SUCCEEDED' });
    const created = await world.get(`${world.P}/vms/${body.metadata.id}`);
    expect(created.body.name).toBe(opened.metadata.request['name']);
  });
});

describe('docs/contract/vms.md: read a VM', () => {
  it('a VM is read by its id and shows its public address', async () => {
    const { status, body } = await world.get(`${world.P}/vms/${vm['id']}`);
    expect({ status, body }).toEqual({ status: 200, body: vm });
    expect(body.network_interfaces[0].ips[0].public_ipv4.address).toBe(body.ssh_destination);
  });
});

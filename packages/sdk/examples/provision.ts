/**
 * What a tool for infrastructure as code does with the API: it creates resources that depend on each
 * other, reads them back, changes one, and destroys them in reverse. Every write is repeated with its
 * Idempotency-Key, as after a lost reply, and every deletion once more without it.
 */
import { deepStrictEqual } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { ApiError, createClient, type Schemas } from '@gantry/sdk';

const { GANTRY_URL = 'http://127.0.0.1:8080', GANTRY_ACCESS_KEY = '' } = process.env;
const { SSH_PUBLIC_KEY = '', LOCATION = 'eu-north-a' } = process.env;
const { VM_TYPE = 'a40.1x', IMAGE = 'debian-12' } = process.env;

const gantry = createClient({ baseUrl: GANTRY_URL, credential: { accessKey: GANTRY_ACCESS_KEY } });
const { project_id } = await gantry.root.get();
const print = (line: string) => process.stdout.write(`${line}\n`);

type Write<Reply> = (options: { idempotencyKey: string }) => Promise<Reply>;

/** Makes a change, and repeats the request as if the reply had been lost. Both replies must be equal. */
async function make<Reply>(what: string, write: Write<Reply>): Promise<Reply> {
  const idempotencyKey = randomUUID();
  const first = await write({ idempotencyKey });
  deepStrictEqual(await write({ idempotencyKey }), first, `${what}: the repetition differs`);
  print(what);
  return first;
}

/** The same for a change that goes on after its reply. Returns the result of the operation. */
async function finish(what: string, write: Write<{ operation: Schemas['Operation'] }>) {
  const { operation } = await make(what, write);
  return (await gantry.waitForOperation({ project_id, operation })).result ?? {};
}

/** Deletes something that is already deleted: there must be nothing left. */
async function isGone(remove: Write<unknown>): Promise<void> {
  try {
    await remove({ idempotencyKey: randomUUID() });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return;
    throw error;
  }
  throw new Error('a second deletion found something to delete');
}

/** Compares what the API has with what was sent. More members are allowed, other values are not. */
function isAsSent(what: string, found: object, sent: object): void {
  const members = Object.entries(found).filter(([name]) => name in sent);
  deepStrictEqual(Object.fromEntries(members), sent, `${what}: the API has something else`);
}

const newNetwork = { name: 'provision', cidr: '10.77.0.0/16' };
const network = await make('create network', (options) =>
  gantry.networks.create({ project_id, body: newNetwork }, options),
);
const newSubnet = {
  ...{ name: 'provision', cidr: '10.77.1.0/24', location: LOCATION, vpc_network_id: network.id },
};
const subnet = await make('create subnet', (options) =>
  gantry.subnets.create({ project_id, body: newSubnet }, options),
);
const newKey = { name: 'provision', public_key: SSH_PUBLIC_KEY };
const key = await make('create key', (options) =>
  gantry.sshKeys.create({ project_id, body: newKey }, options),
);
const newDisk = {
  ...{ name: 'provision', size: '1GiB', location: LOCATION },
  ...({ type: 'persistent-ssd', block_size: 4096 } as const),
};
const { id: disk_id } = await finish('create disk', (options) =>
  gantry.disks.create({ project_id, body: newDisk }, options),
);
const newVm = {
  ...{ name: 'provision', type: VM_TYPE, location: LOCATION },
  tags: { env: 'test', 'managed-by': 'provision' },
};
const { id: vm_id } = await finish('create VM', (options) => {
  const network_interfaces = [{ subnet_id: subnet.id, public_ipv4: { type: 'none' as const } }];
  const guest = { image: IMAGE, ssh_keys: [key.name], user_data: '#cloud-config\n{}\n' };
  const disks = [{ disk_id: String(disk_id) }];
  const body = { ...newVm, ...guest, network_interfaces, disks };
  return gantry.vms.create({ project_id, body }, options);
});
const ids = { disk_id: String(disk_id), vm_id: String(vm_id) };

async function readBack(tags: Record<string, string>): Promise<void> {
  const { vm_id, disk_id } = ids;
  const vm = await gantry.vms.get({ project_id, vm_id });
  isAsSent('VM', vm, { ...newVm, tags });
  const [nic] = vm.network_interfaces;
  deepStrictEqual([nic?.network, nic?.subnet], [network.id, subnet.id]);
  deepStrictEqual(vm.disks.filter(({ id }) => id === disk_id).length, 1, 'the disk is attached');
  const disk = await gantry.disks.get({ project_id, disk_id });
  isAsSent('disk', disk, { ...newDisk, vm_ids: [vm_id] });
  const network_id = network.id;
  isAsSent('network', await gantry.networks.get({ project_id, network_id }), newNetwork);
  isAsSent('subnet', await gantry.subnets.get({ project_id, subnet_id: subnet.id }), newSubnet);
  isAsSent('key', await gantry.sshKeys.get({ project_id, ssh_key_id: key.id }), newKey);
  print('no drift');
}

await readBack(newVm.tags);
const tags = { env: 'production' };
await finish('change tags', (options) =>
  gantry.vms.change({ project_id, vm_id: ids.vm_id, body: { action: 'UPDATE', tags } }, options),
);
await readBack(tags);

const deleteVm: Write<Schemas['OperationReply']> = (options) =>
  gantry.vms.delete({ project_id, vm_id: ids.vm_id }, options);
await finish('delete VM', deleteVm);
await isGone(deleteVm);
const deleteDisk: Write<Schemas['OperationReply']> = (options) =>
  gantry.disks.delete({ project_id, disk_id: ids.disk_id }, options);
await finish('delete disk', deleteDisk);
await isGone(deleteDisk);
const deletions: Record<string, Write<unknown>> = {
  key: (options) => gantry.sshKeys.delete({ project_id, ssh_key_id: key.id }, options),
  subnet: (options) => gantry.subnets.delete({ project_id, subnet_id: subnet.id }, options),
  network: (options) => gantry.networks.delete({ project_id, network_id: network.id }, options),
};
for (const [what, remove] of Object.entries(deletions)) {
  await make(`delete ${what}`, remove);
  await isGone(remove);
}

import { createHash } from 'node:crypto';
import { channelCredentials } from '@gantry/agent/identity/identity';
import type { ImageContent } from '@gantry/proto/generated/gantry/v1/ImageContent';
import { loadFleet } from '@gantry/proto/load';
import type { SimulatedHost } from '@gantry/simulator/fleet/simulated-host';
import { type ClientWritableStream, type ServiceError, status } from '@grpc/grpc-js';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type ImageStoreCloud, POLL, startImageStoreCloud } from './image-store-cloud.ts';

/** What a host that does not follow the protocol can do to the image store: nothing. */
let world: ImageStoreCloud;
let cloud: ImageStoreCloud['cloud'];
let host: SimulatedHost;
let snapshotId: string;
let made = 0;
const fleet = loadFleet();
const clients: { close(): void }[] = [];

beforeAll(async () => {
  world = await startImageStoreCloud();
  ({ cloud } = world);
  const vmId = await world.succeed(cloud.createVm());
  const [placement] = await cloud.sql`select host_id from placements where vm_id = ${vmId}`;
  host = placement?.['host_id'] === world.first.id ? world.first : world.second;
  const { disks } = (await cloud.call('GET', `/vms/${vmId}`)).body;
  host.driver.disks.write(disks[0].id, 'system');
  const body = { name: 'snapshot', disk_id: disks[0].id };
  snapshotId = await world.succeed(cloud.request('POST', '/snapshots', body));
});
afterAll(() => world?.stop());
afterEach(() => {
  for (const client of clients.splice(0)) client.close();
});

/** Requests an image whose content the agent does not send until `release`. */
async function orderImage() {
  const { faults } = host.driver;
  faults.hang('read_snapshot');
  const requested = await cloud.request('POST', '/images', {
    name: `image-${made++}`,
    snapshot_id: snapshotId,
  });
  await expect.poll(() => faults.hangingIn('read_snapshot'), POLL).toBe(1);
  return { ...requested, release: () => faults.unhang('read_snapshot') };
}

function clientOf(by: SimulatedHost, port: number | undefined) {
  const address = `localhost:${port}`;
  const client = new fleet(address, channelCredentials(by.identity));
  clients.push(client);
  return client;
}

type Call = { stream: ClientWritableStream<ImageContent>; code: Promise<status> };

/** Begins a call of SendImage as this host. */
function beginSending(
  by: SimulatedHost,
  messages: readonly ImageContent[],
  scheduler = cloud.schedulers[0],
): Call {
  const client = clientOf(by, scheduler?.port);
  let stream: ClientWritableStream<ImageContent> | undefined;
  const code = new Promise<status>((resolve) => {
    stream = client.sendImage((error: ServiceError | null) => resolve(error?.code ?? status.OK));
  });
  if (!stream) throw new Error('BUG: no call');
  for (const message of messages) stream.write(message);
  return { stream, code };
}

const SIZE = 128 * 2 ** 30;
type Block = readonly [offset: number, text: string];
const checksum = (...blocks: Block[]) => {
  const hash = createHash('sha256');
  for (const [offset, text] of blocks) {
    const place = Buffer.alloc(8);
    place.writeBigUInt64BE(BigInt(offset));
    hash.update(place).update(text);
  }
  return hash.digest('hex');
};
const block = (offset: number, text: string): ImageContent => ({
  ...{ offset: String(offset), data: Buffer.from(text) },
});

/** The blocks with the checksum that they should have. */
const whole = (...blocks: Block[]): ImageContent[] => [
  ...blocks.map(([offset, text]) => block(offset, text)),
  { sha256: checksum(...blocks) },
];

it('content that is incomplete, out of place, too large or of no image is refused and leaves nothing', async () => {
  const { id, operationId, release } = await orderImage();
  const first = { imageId: id, sizeBytes: String(SIZE) };
  const last = { sha256: checksum([0, 'data']) };
  const bad: [string, ImageContent[], status][] = [
    ['no end', [first, block(0, 'data')], status.INVALID_ARGUMENT],
    ['another checksum', [first, block(0, 'DATA'), last], status.INVALID_ARGUMENT],
    ['data after the end', [first, last, block(0, 'data')], status.INVALID_ARGUMENT],
    ['overlaps', [first, ...whole([0, 'data'], [2, 'x'])], status.INVALID_ARGUMENT],
    ['beyond its size', [first, ...whole([SIZE - 1, 'data'])], status.INVALID_ARGUMENT],
    ['a larger disk', [{ ...first, sizeBytes: String(SIZE + 1) }], status.INVALID_ARGUMENT],
    ['no size', [{ imageId: id }], status.INVALID_ARGUMENT],
    ['no message', [], status.INVALID_ARGUMENT],
    ['a path', [{ ...first, imageId: '../../etc' }], status.INVALID_ARGUMENT],
    ['another image', [{ ...first, imageId: snapshotId }], status.NOT_FOUND],
  ];
  for (const [name, messages, expected] of bad) {
    const { stream, code } = beginSending(host, messages);
    stream.end();
    expect({ name, code: await code }).toEqual({ name, code: expected });
    expect({ name, files: await world.filesOf(id) }).toEqual({ name, files: [] });
  }
  expect(await cloud.operation(operationId)).toMatchObject({ state: 'IN_PROGRESS' });
  release();
  await world.succeed({ id, operationId });
});

it('a transfer that is interrupted leaves nothing, and the next one succeeds', async () => {
  const { id, operationId, release } = await orderImage();
  const first = { imageId: id, sizeBytes: String(SIZE) };
  const { stream } = beginSending(host, [first, block(0, 'half')]);
  await expect.poll(() => world.filesOf(id), POLL).toHaveLength(1);
  stream.cancel();
  await expect.poll(() => world.filesOf(id), POLL).toEqual([]);
  release();
  await world.succeed({ id, operationId });
});

it('a transfer ends with its scheduler, leaves nothing, and is accepted by another scheduler', async () => {
  const { id, operationId, release } = await orderImage();
  const first = { imageId: id, sizeBytes: String(SIZE) };
  const other = await world.addScheduler();
  const { code } = beginSending(host, [first, block(0, 'half')], other);
  await expect.poll(() => world.filesOf(id), POLL).toHaveLength(1);
  await other.stop();
  expect(await code).toBe(status.UNAVAILABLE);
  expect(await world.filesOf(id)).toEqual([]);
  cloud.schedulers.splice(cloud.schedulers.indexOf(other), 1);
  release();
  await world.succeed({ id, operationId });
});

it('a host has four transfers at most, and the others have their own', async () => {
  const { id, operationId, release } = await orderImage();
  const first = { imageId: id, sizeBytes: String(SIZE) };
  const four = Array.from({ length: 4 }, () => beginSending(host, [first]));
  await expect.poll(() => world.filesOf(id), POLL).toHaveLength(4);
  expect(await beginSending(host, [first]).code).toBe(status.RESOURCE_EXHAUSTED);
  const other = host === world.first ? world.second : world.first;
  expect(await beginSending(other, [first]).code).toBe(status.NOT_FOUND);
  for (const { stream } of four) stream.cancel();
  await expect.poll(() => world.filesOf(id), POLL).toEqual([]);
  release();
  await world.succeed({ id, operationId });
});

it('content for an image that was given up meanwhile is not kept', async () => {
  const { id, operationId, release } = await orderImage();
  const first = { imageId: id, sizeBytes: String(SIZE) };
  const { stream, code } = beginSending(host, [first, block(0, 'data')]);
  await expect.poll(() => world.filesOf(id), POLL).toHaveLength(1);
  await cloud.sql`update operations set deadline_at = now() - interval '1 second' where id = ${operationId}`;
  expect((await world.ended({ id, operationId })).state).toBe('FAILED');
  stream.end({ sha256: checksum([0, 'data']) });
  expect(await code).toBe(status.NOT_FOUND);
  release();
  await world.succeed(cloud.request('DELETE', `/images/${id}`));
  await expect.poll(() => world.filesOf(id), POLL).toEqual([]);
});

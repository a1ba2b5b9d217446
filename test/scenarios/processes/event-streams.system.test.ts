import { followEvents } from '@gantry/testkit/api/follow-events';
import {
  type Api,
  type Processes,
  startProcesses,
} from '@gantry/testkit/processes/start-processes';
import { afterAll, beforeAll, expect, it } from 'vitest';

let processes: Processes;
let first: Api;
let second: Api;

beforeAll(async () => {
  processes = await startProcesses();
  first = await processes.startApi();
  second = await processes.startApi();
});
afterAll(() => processes?.stop());

const follow = ({ url }: Api, lastEventId?: string) => {
  const { project_id, access_key: bearer } = processes.credentials;
  return followEvents(`${url}/v0.1/projects/${project_id}/events`, {
    bearer,
    ...(lastEventId === undefined ? {} : { lastEventId }),
  });
};
type Followed = Awaited<ReturnType<typeof follow>>;
const messagesOf = ({ events }: Followed) =>
  events.filter(({ type }) => type === 'event').map(({ data }) => data.message);

it('a stream continues with another api after its process was killed, without a gap or a repetition', async () => {
  let written = 0;
  const write = async () => {
    written += 1;
    await processes.sql`insert into events (id, project_id, resource_type, resource_id, type, message)
      values (gen_random_uuid(), ${processes.credentials.project_id}, 'vm', gen_random_uuid(), 'vm_lost', ${String(written)})`;
  };
  const before = await follow(first);
  await expect.poll(() => before.events.map(({ type }) => type)).toEqual(['ready']);
  while (messagesOf(before).length < 5) await write();
  first.signal('SIGKILL');
  for (let count = 0; count < 20; count += 1) await write();
  await before.ended;
  const after = await follow(second, before.lastEventId());
  await write();
  await expect.poll(() => messagesOf(after).at(-1)).toBe(String(written));
  const all = Array.from({ length: written }, (_, index) => String(index + 1));
  expect([...messagesOf(before), ...messagesOf(after)]).toEqual(all);
  expect(after.events.every(({ type }) => type === 'event')).toBe(true);
  after.close();
});

it('an api that is asked to stop ends its streams', async () => {
  const following = await follow(second);
  await expect.poll(() => following.events.map(({ type }) => type)).toEqual(['ready']);
  second.signal('SIGTERM');
  await following.ended;
  expect(following.events.at(-1)).toMatchObject({ type: 'end', data: { reason: 'stopping' } });
  await expect.poll(() => second.isRunning()).toBe(false);
});

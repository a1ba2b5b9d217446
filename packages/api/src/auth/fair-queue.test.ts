import { expect, it } from 'vitest';
import { createFairQueue, type FairQueueOptions } from './fair-queue.ts';

/** A queue whose tasks end when the test says so, in the order in which they began. */
function makeQueue(options: Partial<FairQueueOptions> = {}) {
  const queue = createFairQueue({ concurrency: 1, maxWaiting: 100, ...options });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const add = (name: string, { first = false, source = name.slice(0, 1) } = {}) =>
    queue.run({
      source,
      first,
      work: () => {
        begun.push(name);
        return new Promise<string>((resolve) => {
          ends.push(() => resolve(name));
        });
      },
    });
  const finishAll = async () => {
    await new Promise(setImmediate);
    for (let end = ends.shift(); end; end = ends.shift()) {
      end();
      await new Promise(setImmediate);
    }
  };
  return { add, begun, finishAll };
}

it('sources take turns, whatever one of them sends', async () => {
  const { add, begun, finishAll } = makeQueue();
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'].map((name) => add(name));
  await finishAll();
  expect(await Promise.all(all)).toHaveLength(7);
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

it('a first task runs before all that wait', async () => {
  const { add, begun, finishAll } = makeQueue();
  const all = [add('a1'), add('a2'), add('b1'), add('o1', { first: true })];
  await finishAll();
  await Promise.all(all);
  expect(begun).toEqual(['a1', 'o1', 'a2', 'b1']);
});

it('as many tasks run at once as allowed', async () => {
  const { add, begun, finishAll } = makeQueue({ concurrency: 2 });
  const all = ['a', 'b', 'c'].map((name) => add(name));
  await new Promise(setImmediate);
  expect(begun).toEqual(['a', 'b']);
  await finishAll();
  await Promise.all(all);
});

it('a task beyond the limit is refused at once, and a first task has a limit of its own', async () => {
  const { add, finishAll } = makeQueue({ maxWaiting: 2 });
  const all = [add('a1'), add('a2'), add('b1')];
  await expect(add('c1')).rejects.toMatchObject({ code: 'too_many_requests' });
  all.push(add('o1', { first: true }));
  await finishAll();
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'b1', 'o1']);
});

it('a task that fails makes room for the next', async () => {
  const queue = createFairQueue({ concurrency: 1, maxWaiting: 1 });
  const task = { source: 'a', first: false };
  await expect(
    queue.run({ ...task, work: () => Promise.reject(new Error('x')) }),
  ).rejects.toThrow();
  expect(await queue.run({ ...task, work: async () => 'done' })).toBe('done');
});

it('a source runs at most its share, and leaves the rest to others', async () => {
  const { add, begun, finishAll } = makeQueue({ concurrency: 4, perSource: 2 });
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2'].map((name) => add(name));
  await new Promise(setImmediate);
  expect(begun).toEqual(['a1', 'a2', 'b1', 'c1']);
  await finishAll();
  expect(await Promise.all(all)).toHaveLength(7);
  expect(begun.slice(4)).toEqual(['a3', 'c2', 'a4']);
});

it('a source with too many waiting tasks is refused, and others are not', async () => {
  const { add, finishAll } = makeQueue({ maxWaitingOfSource: 2 });
  const all = [add('a1'), add('a2'), add('a3')];
  await expect(add('a4')).rejects.toMatchObject({ code: 'too_many_requests' });
  all.push(add('b1'));
  await finishAll();
  expect(await Promise.all(all)).toEqual(['a1', 'a2', 'a3', 'b1']);
});

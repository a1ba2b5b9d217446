import { expect, it } from 'vitest';
import { createKeyedQueue, createQueue, createSlots } from './queue.ts';

const gate = () => {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

it('work of one queue runs in order and never concurrently', async () => {
  const inOrder = createQueue();
  const steps: string[] = [];
  const { open, opened } = gate();
  const first = inOrder(async () => {
    steps.push('first begins');
    await opened;
    steps.push('first ends');
  });
  const second = inOrder(async () => {
    steps.push('second begins');
  });
  open();
  await Promise.all([first, second]);
  expect(steps).toEqual(['first begins', 'first ends', 'second begins']);
});

it('a failure rejects its own call, and the queue continues', async () => {
  const inOrder = createQueue();
  const failing = inOrder(() => Promise.reject(new Error('no')));
  const next = inOrder(async () => 2);
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe(2);
});

it('work with the same key runs in order, and work with another key does not wait', async () => {
  const inOrder = createKeyedQueue();
  const steps: string[] = [];
  const { open, opened } = gate();
  const first = inOrder('a', async () => {
    await opened;
    steps.push('a1');
  });
  const second = inOrder('a', async () => {
    steps.push('a2');
  });
  await inOrder('b', async () => {
    steps.push('b');
  });
  open();
  await Promise.all([first, second]);
  expect(steps).toEqual(['b', 'a1', 'a2']);
});

it('no more works run at once than there are slots, and a failed work frees its slot', async () => {
  const inSlot = createSlots(2);
  const begun: number[] = [];
  const gates = [gate(), gate(), gate()];
  const works = gates.map(({ opened }, index) =>
    inSlot(async () => {
      begun.push(index);
      await opened;
      if (index === 0) throw new Error('no');
    }),
  );
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  gates[0]?.open();
  await expect(works[0]).rejects.toThrow('no');
  gates[2]?.open();
  await works[2];
  expect(begun).toEqual([0, 1, 2]);
  gates[1]?.open();
  await works[1];
});

import { expect, it } from 'vitest';
import { makeSpec } from '../testing/make-spec.ts';
import { Ledger, type LedgerContent, type LedgerStore } from './ledger.ts';

/** A disk whose writes end when the test says so. */
function slowStore() {
  const written: LedgerContent[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const store: LedgerStore = {
    read: async () => null,
    write: (content) =>
      new Promise((resolve, reject) => {
        ends.push((error) => {
          if (error) return reject(error);
          written.push(content);
          resolve();
        });
      }),
  };
  return { store, written, ends };
}

it('an update is visible only after it is on disk', async () => {
  const { store, ends } = slowStore();
  const ledger = new Ledger(store, null);
  const updated = ledger.update((content) => ({ ...content, spec: makeSpec(1) }));
  expect(ledger.content.spec).toBeNull();
  ends[0]?.();
  await updated;
  expect(ledger.content.spec?.number).toBe('1');
});

it('updates during a write share the next write, and none is lost', async () => {
  const { store, ends, written } = slowStore();
  const ledger = new Ledger(store, null);
  const updates = ['a', 'b', 'c'].map((id) => ledger.updateFacts(id, { generation: '1' }));
  ends[0]?.();
  await updates[0];
  ends[1]?.();
  await Promise.all(updates);
  expect(written).toHaveLength(2);
  expect(Object.keys(ledger.content.vms)).toEqual(['a', 'b', 'c']);
});

it('a failed write rejects its callers and changes nothing', async () => {
  const { store, ends } = slowStore();
  const ledger = new Ledger(store, null);
  const updated = ledger.updateFacts('a', { generation: '1' });
  ends[0]?.(new Error('no space'));
  await expect(updated).rejects.toThrow('no space');
  expect(ledger.content.vms).toEqual({});
  const again = ledger.updateFacts('b', { generation: '1' });
  ends[1]?.();
  await again;
  expect(Object.keys(ledger.content.vms)).toEqual(['b']);
});

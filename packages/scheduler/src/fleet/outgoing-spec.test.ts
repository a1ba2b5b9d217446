import type { HostSpec__Output } from '@gantry/proto/generated/gantry/v1/HostSpec';
import { loadFleet } from '@gantry/proto/load';
import { expect, it } from 'vitest';
import { hashOf, type SpecPart, toMessages, toSpecPart, toWholeSpec } from './outgoing-spec.ts';

const { responseDeserialize, responseSerialize } = loadFleet().service.Attach;

const vm = (id: string) => toSpecPart({ vms: [{ id }] });
const rules = (id: string) => toSpecPart({ firewallRules: [{ id }] });
const specOf = (...parts: SpecPart[]) => ({
  ...{ id: { era: '1', number: '5', hash: 'h' }, parts },
  ...{ consoles: [], authoritySha256s: ['a'] },
});
const hashes = (parts: readonly SpecPart[]) => new Set(parts.map(({ hash }) => hash));
const idsIn = (content: unknown) =>
  (responseDeserialize(content as Buffer) as HostSpec__Output).vms.map(({ id }) => id);

it('a spec for an agent that has nothing has all pieces, in order', () => {
  const [message, ...others] = toMessages(specOf(vm('a'), vm('b')), new Set());
  expect(others).toEqual([]);
  expect(message).toMatchObject({ era: '1', number: '5', hash: 'h', authoritySha256s: ['a'] });
  expect(message?.pieceHashes).toEqual([vm('a').hash, vm('b').hash]);
  expect(message?.pieces?.flatMap(({ content }) => idsIn(content))).toEqual(['a', 'b']);
});

it('a piece that the agent has is named and not sent', () => {
  const [message] = toMessages(specOf(vm('a'), vm('b')), hashes([vm('a')]));
  expect(message?.pieceHashes).toHaveLength(2);
  expect(message?.pieces?.flatMap(({ content }) => idsIn(content))).toEqual(['b']);
});

it('equal parts are sent once', () => {
  const [message] = toMessages(specOf(vm('a'), vm('a')), new Set());
  expect(message?.pieces).toHaveLength(1);
  expect(message?.pieceHashes).toHaveLength(2);
});

it('a spec of any size fits into messages of 4 MiB', () => {
  const parts = Array.from({ length: 40 }, (_, index) => vm(`${index}-${'x'.repeat(400_000)}`));
  const messages = toMessages(specOf(...parts), new Set());
  expect(messages.length).toBeGreaterThan(4);
  for (const message of messages)
    expect(responseSerialize(message).length).toBeLessThan(4 * 2 ** 20);
  expect(messages.flatMap(({ pieces = [] }) => pieces)).toHaveLength(40);
  expect(messages.map(({ number }) => number ?? '0').slice(0, -1)).toEqual(
    messages.slice(1).map(() => '0'),
  );
  expect(messages.at(-1)).toMatchObject({ number: '5' });
});

it('a part that several specs share is encoded once', () => {
  const shared = rules('r');
  toMessages(specOf(shared), new Set());
  const { encoded } = shared;
  expect(encoded).not.toBeNull();
  const [message] = toMessages(specOf(vm('a'), shared), new Set());
  expect(message?.pieces?.at(-1)?.content).toBe(encoded);
});

it('an agent that takes no pieces gets the same content in one message', () => {
  const whole = toWholeSpec(specOf(vm('a'), rules('r'), vm('b')));
  expect(whole).toMatchObject({ era: '1', number: '5', hash: 'h', authoritySha256s: ['a'] });
  expect(whole.vms).toEqual([{ id: 'a' }, { id: 'b' }]);
  expect(whole.firewallRules).toEqual([{ id: 'r' }]);
});

it('the hash of a spec changes with its era, its number and its content', () => {
  const base = hashOf({ era: '0', number: '1' }, [vm('a')]);
  expect(hashOf({ era: '0', number: '1' }, [vm('a')])).toBe(base);
  expect(hashOf({ era: '1', number: '1' }, [vm('a')])).not.toBe(base);
  expect(hashOf({ era: '0', number: '2' }, [vm('a')])).not.toBe(base);
  expect(hashOf({ era: '0', number: '1' }, [vm('b')])).not.toBe(base);
  expect(hashOf({ era: '0', number: '1' }, [])).not.toBe(base);
});

import type { HostSpec, HostSpec__Output } from '@gantry/proto/generated/gantry/v1/HostSpec';
import { loadFleet } from '@gantry/proto/load';
import { expect, it } from 'vitest';
import { MissingPiece, SpecPieces } from './spec-pieces.ts';

const { responseSerialize: encode, responseDeserialize: decode } = loadFleet().service.Attach;

const piece = (hash: string, content: HostSpec) => ({ hash, content: encode(content) });
const vm = (id: string) => piece(id, { vms: [{ id }] });
/** A message as it arrives. */
const message = (fields: HostSpec) => decode(encode(fields)) as HostSpec__Output;
const spec = (number: number, pieceHashes: string[], pieces: HostSpec['pieces'] = []) =>
  message({ number, hash: `hash of ${number}`, pieceHashes, pieces });
const vmsOf = (received: { vms: { id: string }[] } | null) => received?.vms.map(({ id }) => id);

it('a spec consists of its pieces, in their order', () => {
  const pieces = new SpecPieces(decode);
  const rules = piece('r', { firewallRules: [{ id: 'rule' }] });
  const received = pieces.receive(spec(1, ['b', 'r', 'a'], [vm('a'), vm('b'), rules]));
  expect(vmsOf(received)).toEqual(['b', 'a']);
  expect(received?.firewallRules.map(({ id }) => id)).toEqual(['rule']);
  expect(received?.networks).toEqual([]);
  expect(received).not.toHaveProperty('pieces');
  expect(pieces.held).toBe('hash of 1');
});

it('a piece that is there need not be sent again, also if it came in a message before the spec', () => {
  const pieces = new SpecPieces(decode);
  expect(pieces.receive(message({ pieces: [vm('a')] }))).toBeNull();
  expect(vmsOf(pieces.receive(spec(1, ['a', 'b'], [vm('b')])))).toEqual(['a', 'b']);
  expect(vmsOf(pieces.receive(spec(2, ['b', 'c'], [vm('c')])))).toEqual(['b', 'c']);
});

it('the pieces of earlier specs are forgotten', () => {
  const pieces = new SpecPieces(decode);
  pieces.receive(spec(1, ['a'], [vm('a')]));
  pieces.receive(spec(2, ['b'], [vm('b')]));
  expect(() => pieces.receive(spec(3, ['a']))).toThrow(MissingPiece);
});

it('an agent that lacks a piece says that it has none', () => {
  const pieces = new SpecPieces(decode);
  pieces.receive(spec(1, ['a'], [vm('a')]));
  expect(() => pieces.receive(spec(2, ['a', 'b']))).toThrow(MissingPiece);
  expect(pieces.held).toBe('');
  expect(() => pieces.receive(spec(2, ['a']))).toThrow(MissingPiece);
});

it('a spec without pieces is complete, as a scheduler of an earlier version sends it', () => {
  const pieces = new SpecPieces(decode);
  expect(vmsOf(pieces.receive(message({ number: 1, vms: [{ id: 'a' }] })))).toEqual(['a']);
  expect(pieces.held).toBe('');
});

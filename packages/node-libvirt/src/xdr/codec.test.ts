import { describe, expect, it } from 'vitest';
import { typedParamCodec } from '../generated/codecs.ts';
import * as codec from './codec.ts';
import { XdrDecoder, XdrEncoder, XdrError } from './xdr.ts';

function encode<T>(type: codec.Codec<T>, value: T): Buffer {
  const encoder = new XdrEncoder();
  type.write(encoder, value);
  return encoder.bytes();
}

function roundTrip<T>(type: codec.Codec<T>, value: T): T {
  const decoder = new XdrDecoder(encode(type, value));
  const read = type.read(decoder);
  decoder.end();
  return read;
}

describe('codecs', () => {
  it('decode what they encoded', () => {
    const type = codec.struct({
      name: codec.string(8),
      uuid: codec.fixedOpaque(3),
      ids: codec.array(2, codec.hyper),
      pair: codec.fixedArray(2, codec.uint),
      data: codec.opaque(4),
      missing: codec.optional(codec.int),
      there: codec.optional(codec.uhyper),
      ratio: codec.double,
      model: codec.fixedChars(8),
      label: codec.chars(8),
    });
    const value = {
      name: 'gpü',
      uuid: Buffer.from([1, 2, 3]),
      ids: [-1n, 2n],
      pair: [1, 2],
      data: Buffer.alloc(0),
      missing: null,
      there: 2n ** 63n,
      ratio: 0.1,
      model: 'aarch64',
      label: 'ü',
    };
    expect(roundTrip(type, value)).toEqual(value);
    expect(encode(codec.fixedChars(2), 'a').toString('hex')).toBe('0000006100000000');
  });

  it('copy bytes out of the packet', () => {
    const source = Buffer.from('0000000461626364', 'hex');
    const fixed = codec.fixedOpaque(8).read(new XdrDecoder(source));
    const counted = codec.opaque(4).read(new XdrDecoder(source));
    source.fill(0);
    expect([fixed.toString('hex'), String(counted)]).toEqual(['0000000461626364', 'abcd']);
  });

  it('decode each case of a union by its number', () => {
    const int = { field: 'cpu', value: { type: 1 as const, value: -5 } };
    const text = { field: 'name', value: { type: 7 as const, value: 'vm' } };
    expect([roundTrip(typedParamCodec, int), roundTrip(typedParamCodec, text)]).toEqual([
      int,
      text,
    ]);
    expect(encode(typedParamCodec, int).toString('hex')).toBe(
      '00000003637075' + '0000000001fffffffb',
    );
  });

  it.each<[string, () => unknown]>([
    ['a string beyond its limit', () => encode(codec.string(2), 'abc')],
    ['too many elements', () => encode(codec.array(1, codec.int), [1, 2])],
    ['another number of elements', () => encode(codec.fixedArray(1, codec.int), [])],
    ['another number of bytes', () => encode(codec.fixedOpaque(16), Buffer.alloc(15))],
    ['text that does not fit', () => encode(codec.fixedChars(2), 'abc')],
    [
      'an unknown case',
      () => typedParamCodec.read(new XdrDecoder(Buffer.from('0000000000000009', 'hex'))),
    ],
  ])('refuse %s', (_name, attempt) => {
    expect(attempt).toThrow(XdrError);
  });
});

import { describe, expect, it } from 'vitest';
import { XdrDecoder, XdrEncoder, XdrError } from './xdr.ts';

const decode = (hex: string) => new XdrDecoder(Buffer.from(hex.replaceAll(' ', ''), 'hex'));
const hexOf = (encoder: XdrEncoder) => encoder.bytes().toString('hex');

describe('XdrEncoder', () => {
  it('writes big-endian words and pads to four bytes', () => {
    expect(hexOf(new XdrEncoder().int(-2).uint(4_294_967_295))).toBe('fffffffeffffffff');
    expect(hexOf(new XdrEncoder().hyper(-1n).uhyper(1n))).toBe('ffffffffffffffff0000000000000001');
    expect(hexOf(new XdrEncoder().string('hello'))).toBe('0000000568656c6c6f000000');
    expect(hexOf(new XdrEncoder().opaque(Buffer.from([1, 2, 3, 4])))).toBe('0000000401020304');
    expect(hexOf(new XdrEncoder().fixedOpaque(Buffer.from([9])))).toBe('09000000');
  });

  it('keeps earlier bytes when the buffer grows', () => {
    const encoder = new XdrEncoder();
    for (let word = 0; word < 1_000; word += 1) encoder.uint(word);
    const decoder = new XdrDecoder(encoder.bytes());
    for (let word = 0; word < 1_000; word += 1) expect(decoder.uint()).toBe(word);
    decoder.end();
  });

  it('writes an absent value as one zero word', () => {
    const write = (encoder: XdrEncoder, value: number) => encoder.int(value);
    expect(hexOf(new XdrEncoder().optional(null, write))).toBe('00000000');
    expect(hexOf(new XdrEncoder().optional(7, write))).toBe('0000000100000007');
  });

  it.each([
    ['int', () => new XdrEncoder().int(2 ** 31)],
    ['int of a fraction', () => new XdrEncoder().int(0.5)],
    ['uint', () => new XdrEncoder().uint(-1)],
    ['hyper', () => new XdrEncoder().hyper(2n ** 63n)],
    ['uhyper', () => new XdrEncoder().uhyper(-1n)],
    ['opaque', () => new XdrEncoder().opaque(Buffer.alloc(5), 4)],
  ])('refuses a value outside its type: %s', (_name, encode) => {
    expect(encode).toThrow(XdrError);
  });
});

describe('XdrDecoder', () => {
  it('reads back what was written', () => {
    const bytes = new XdrEncoder()
      .int(-5)
      .bool(true)
      .hyper(-(2n ** 63n))
      .uhyper(2n ** 64n - 1n)
      .string('gpü')
      .bytes();
    const decoder = new XdrDecoder(bytes);
    expect(decoder.int()).toBe(-5);
    expect(decoder.bool()).toBe(true);
    expect(decoder.hyper()).toBe(-(2n ** 63n));
    expect(decoder.uhyper()).toBe(2n ** 64n - 1n);
    expect(decoder.string()).toBe('gpü');
    decoder.end();
  });

  it('reads arrays and absent values', () => {
    expect(decode('00000002 00000001 00000002').array(2, (decoder) => decoder.int())).toEqual([
      1, 2,
    ]);
    expect(decode('00000000').optional((decoder) => decoder.int())).toBeNull();
  });

  it.each([
    ['a short word', () => decode('0000').int()],
    ['a length beyond the bytes', () => decode('00000008 61626364').string()],
    ['missing padding', () => decode('00000001 61').string()],
    ['a length beyond the limit', () => decode('ffffffff').opaque()],
    ['more elements than allowed', () => decode('00000003').array(2, (decoder) => decoder.int())],
    ['a bool of two', () => decode('00000002').bool()],
    ['remaining bytes', () => decode('00000000').end()],
  ])('refuses %s', (_name, read) => {
    expect(read).toThrow(XdrError);
  });
});

/**
 * A codec turns one type of libvirt's protocol definition into bytes and back. The generated files
 * build them from the ones here; each knows the limits its type has in the definition.
 */
import { type XdrDecoder, type XdrEncoder, XdrError } from './xdr.ts';

export type Codec<T> = {
  write: (encoder: XdrEncoder, value: T) => void;
  read: (decoder: XdrDecoder) => T;
};

/** For procedures without arguments or without a result. */
export const nothing: Codec<void> = { write: () => undefined, read: () => undefined };

export const int: Codec<number> = {
  write: (encoder, value) => encoder.int(value),
  read: (decoder) => decoder.int(),
};

export const uint: Codec<number> = {
  write: (encoder, value) => encoder.uint(value),
  read: (decoder) => decoder.uint(),
};

export const hyper: Codec<bigint> = {
  write: (encoder, value) => encoder.hyper(value),
  read: (decoder) => decoder.hyper(),
};

export const uhyper: Codec<bigint> = {
  write: (encoder, value) => encoder.uhyper(value),
  read: (decoder) => decoder.uhyper(),
};

export const double: Codec<number> = {
  write: (encoder, value) => encoder.double(value),
  read: (decoder) => decoder.double(),
};

export const string = (max: number): Codec<string> => ({
  write: (encoder, value) => encoder.string(value, max),
  read: (decoder) => decoder.string(max),
});

// Bytes are copied, so that a stored UUID does not keep its whole chunk in memory.
export const opaque = (max: number): Codec<Buffer> => ({
  write: (encoder, value) => encoder.opaque(value, max),
  read: (decoder) => Buffer.from(decoder.opaque(max)),
});

export const fixedOpaque = (length: number): Codec<Buffer> => ({
  write: (encoder, value) => {
    checkCount(value.length, length);
    encoder.fixedOpaque(value);
  },
  read: (decoder) => Buffer.from(decoder.fixedOpaque(length)),
});

/** XDR encodes each C `char` as a word, so an array of char is not encoded like a string. */
const textOf = (words: number[]): string => {
  const end = words.indexOf(0);
  return Buffer.from(end < 0 ? words : words.slice(0, end)).toString('utf8');
};

export const chars = (max: number): Codec<string> => ({
  write: (encoder, value) => array(max, int).write(encoder, [...Buffer.from(value, 'utf8')]),
  read: (decoder) => textOf(decoder.array(max, int.read)),
});

export const fixedChars = (length: number): Codec<string> => ({
  write: (encoder, value) => {
    const bytes = Buffer.from(value, 'utf8');
    if (bytes.length > length)
      throw new XdrError(`${bytes.length} bytes, but at most ${length} fit`);
    for (let index = 0; index < length; index += 1) encoder.int(bytes[index] ?? 0);
  },
  read: (decoder) => textOf(Array.from({ length }, () => decoder.int())),
});

export const optional = <T>(codec: Codec<T>): Codec<T | null> => ({
  write: (encoder, value) => encoder.optional(value, codec.write),
  read: (decoder) => decoder.optional(codec.read),
});

export const array = <T>(max: number, element: Codec<T>): Codec<T[]> => ({
  write: (encoder, values) => {
    if (values.length > max)
      throw new XdrError(`${values.length} elements, but at most ${max} fit`);
    encoder.uint(values.length);
    for (const value of values) element.write(encoder, value);
  },
  read: (decoder) => decoder.array(max, element.read),
});

export const fixedArray = <T>(length: number, element: Codec<T>): Codec<T[]> => ({
  write: (encoder, values) => {
    checkCount(values.length, length);
    for (const value of values) element.write(encoder, value);
  },
  read: (decoder) => Array.from({ length }, () => element.read(decoder)),
});

export function struct<T extends object>(fields: { [K in keyof T]: Codec<T[K]> }): Codec<T> {
  const names = Object.keys(fields) as (keyof T)[];
  return {
    write: (encoder, value) => {
      for (const name of names) fields[name].write(encoder, value[name]);
    },
    read: (decoder) => {
      const value: Partial<T> = {};
      for (const name of names) value[name] = fields[name].read(decoder);
      return value as T;
    },
  };
}

type Cases = { type: number; value: unknown };

/** A value preceded by the number of its case. */
export function union<T extends Cases>(
  cases: {
    [K in T['type']]: Codec<Extract<T, { type: K }>['value']>;
  },
): Codec<T> {
  const codecOf = (type: number): Codec<unknown> => {
    const codec = (cases as Record<number, Codec<unknown> | undefined>)[type];
    if (!codec) throw new XdrError(`${type} is not a case of this union`);
    return codec;
  };
  return {
    write: (encoder, { type, value }) => {
      const codec = codecOf(type);
      encoder.int(type);
      codec.write(encoder, value);
    },
    read: (decoder) => {
      const type = decoder.int();
      return { type, value: codecOf(type).read(decoder) } as T;
    },
  };
}

function checkCount(count: number, wanted: number): void {
  if (count !== wanted) throw new XdrError(`${count} given, but exactly ${wanted} are required`);
}

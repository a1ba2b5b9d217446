/**
 * Parses the part of the XDR language (RFC 4506, section 6) that libvirt's definitions use, with
 * rpcgen's `char`, `unsigned char` and `short`, lines that begin with % and are for the C compiler,
 * and libvirt's annotations in the comment before a procedure. Everything else is an error with its
 * line number, because skipping a construct would produce a wrong codec.
 */
import { type Token, tokenize } from './xdr-tokens.ts';

export type TypeRef =
  | { kind: 'primitive'; name: Primitive }
  | { kind: 'named'; name: string }
  | { kind: 'string'; max: Size }
  | { kind: 'opaque'; max: Size }
  | { kind: 'fixedOpaque'; length: Size }
  | { kind: 'chars'; max: Size }
  | { kind: 'fixedChars'; length: Size }
  | { kind: 'array'; max: Size; element: TypeRef }
  | { kind: 'fixedArray'; length: Size; element: TypeRef }
  | { kind: 'optional'; of: TypeRef };

/** A number, or the name of a constant that may be defined elsewhere. */
export type Size = number | string;
export type Primitive =
  | 'int'
  | 'uint'
  | 'hyper'
  | 'uhyper'
  | 'double'
  | 'char'
  | 'uchar'
  | 'short'
  | 'ushort';
export type Field = { name: string; type: TypeRef };
export type EnumMember = { name: string; value: number; comment: string };

export type Definition =
  | { kind: 'const'; name: string; value: Size }
  | { kind: 'enum'; name: string; members: EnumMember[] }
  | { kind: 'typedef'; name: string; type: TypeRef }
  | { kind: 'struct'; name: string; fields: Field[] }
  | { kind: 'union'; name: string; cases: { value: Size; field: Field }[] };

export function parseXdr(source: string): Definition[] {
  return new Parser(tokenize(source)).definitions();
}

const SIGNED: Record<string, Primitive> = {
  int: 'int',
  hyper: 'hyper',
  char: 'char',
  short: 'short',
  double: 'double',
};
const UNSIGNED: Record<string, Primitive> = {
  int: 'uint',
  hyper: 'uhyper',
  char: 'uchar',
  short: 'ushort',
};
const UNSUPPORTED = new Set([
  'float',
  'quadruple',
  'bool',
  'void',
  'default',
  'program',
  'version',
]);

class Parser {
  readonly #tokens: Token[];
  #next = 0;

  constructor(tokens: Token[]) {
    this.#tokens = tokens;
  }

  definitions(): Definition[] {
    const definitions: Definition[] = [];
    while (this.#next < this.#tokens.length) definitions.push(this.#definition());
    return definitions;
  }

  #definition(): Definition {
    const word = this.#take();
    switch (word.text) {
      case 'const':
        return this.#const();
      case 'enum':
        return this.#enum();
      case 'typedef':
        return this.#typedef();
      case 'struct':
        return this.#struct();
      case 'union':
        return this.#union();
      default:
        return fail(word, `"${word.text}" begins no definition this parser knows`);
    }
  }

  #const(): Definition {
    const name = this.#name();
    this.#expect('=');
    const value = this.#size();
    this.#expect(';');
    return { kind: 'const', name, value };
  }

  #enum(): Definition {
    const name = this.#name();
    this.#expect('{');
    const members: EnumMember[] = [];
    do {
      const { comment } = this.#peek();
      const member = this.#name();
      this.#expect('=');
      const token = this.#peek();
      const value = this.#size();
      if (typeof value !== 'number') fail(token, 'a member of an enum needs a number');
      else members.push({ name: member, value, comment });
    } while (this.#accept(','));
    this.#expect('}');
    this.#expect(';');
    return { kind: 'enum', name, members };
  }

  #typedef(): Definition {
    const { name, type } = this.#declaration();
    return { kind: 'typedef', name, type };
  }

  #struct(): Definition {
    const name = this.#name();
    this.#expect('{');
    const fields: Field[] = [];
    while (!this.#accept('}')) fields.push(this.#declaration());
    this.#expect(';');
    return { kind: 'struct', name, fields };
  }

  #union(): Definition {
    const name = this.#name();
    for (const word of ['switch', '(', 'int']) this.#expect(word);
    this.#name();
    this.#expect(')');
    this.#expect('{');
    const cases: { value: Size; field: Field }[] = [];
    while (!this.#accept('}')) {
      this.#expect('case');
      const value = this.#size();
      this.#expect(':');
      cases.push({ value, field: this.#declaration() });
    }
    this.#expect(';');
    return { kind: 'union', name, cases };
  }

  /** A type, a name, and after the name nothing, [n] or <n>. */
  #declaration(): Field {
    const first = this.#peek();
    const isBytes = first.text === 'string' || first.text === 'opaque';
    const base = isBytes ? this.#take().text : this.#type();
    const pointer = this.#accept('*');
    const name = this.#name();
    const bounds = this.#bounds();
    this.#expect(';');
    if (typeof base === 'string')
      return { name, type: bytesType(base, { bounds, pointer, first }) };
    if (pointer && bounds) fail(first, 'a pointer to an array is nothing libvirt has');
    if (pointer) return { name, type: { kind: 'optional', of: base } };
    return { name, type: bounds ? arrayType(base, bounds) : base };
  }

  #type(): TypeRef {
    const word = this.#take();
    if (UNSUPPORTED.has(word.text)) return fail(word, `"${word.text}" is not supported`);
    if (word.text === 'unsigned') {
      const named = UNSIGNED[this.#peek().text];
      if (named) this.#take();
      return { kind: 'primitive', name: named ?? 'uint' };
    }
    const primitive = SIGNED[word.text];
    if (primitive) return { kind: 'primitive', name: primitive };
    checkName(word);
    return { kind: 'named', name: word.text };
  }

  #bounds(): Bounds {
    if (this.#accept('[')) {
      const size = this.#size();
      this.#expect(']');
      return { kind: 'fixed', size };
    }
    if (!this.#accept('<')) return undefined;
    const size = this.#size();
    this.#expect('>');
    return { kind: 'bounded', size };
  }

  #size(): Size {
    const token = this.#take();
    if (/^-?(0x[0-9a-f]+|\d+)$/i.test(token.text)) return Number(token.text);
    checkName(token);
    return token.text;
  }

  #name(): string {
    const token = this.#take();
    checkName(token);
    return token.text;
  }

  #peek(): Token {
    const token = this.#tokens[this.#next];
    if (!token) throw new Error('unexpected end of the definition');
    return token;
  }

  #take(): Token {
    const token = this.#peek();
    this.#next += 1;
    return token;
  }

  #accept(text: string): boolean {
    if (this.#peek().text !== text) return false;
    this.#next += 1;
    return true;
  }

  #expect(text: string): void {
    const token = this.#take();
    if (token.text !== text) fail(token, `"${text}" expected, "${token.text}" found`);
  }
}

type Bounds = { kind: 'fixed' | 'bounded'; size: Size } | undefined;

function arrayType(element: TypeRef, { kind, size }: NonNullable<Bounds>): TypeRef {
  if (element.kind === 'primitive' && element.name === 'char') {
    return kind === 'fixed' ? { kind: 'fixedChars', length: size } : { kind: 'chars', max: size };
  }
  if (kind === 'fixed') return { kind: 'fixedArray', length: size, element };
  return { kind: 'array', max: size, element };
}

function bytesType(
  base: string,
  { bounds, pointer, first }: { bounds: Bounds; pointer: boolean; first: Token },
): TypeRef {
  if (pointer || !bounds) return fail(first, `"${base}" needs its length`);
  if (base === 'opaque' && bounds.kind === 'fixed') {
    return { kind: 'fixedOpaque', length: bounds.size };
  }
  if (bounds.kind === 'fixed') return fail(first, 'a string of fixed length');
  return { kind: base === 'opaque' ? 'opaque' : 'string', max: bounds.size };
}

function checkName(token: Token): void {
  if (!/^[a-z_]\w*$/i.test(token.text)) fail(token, `a name expected, "${token.text}" found`);
}

function fail(token: Token, problem: string): never {
  throw new Error(`line ${token.line}: ${problem}`);
}

import { describe, expect, it } from 'vitest';
import { parseXdr } from './xdr-language.ts';

const typeOf = (declaration: string) => {
  const [definition] = parseXdr(`struct s { ${declaration}; };`);
  return definition?.kind === 'struct' ? definition.fields[0] : undefined;
};

describe('the parser understands', () => {
  it('constants, decimal, hexadecimal and by another name', () => {
    expect(parseXdr('const A = 16;\nconst B = 0x20008086;\nconst C = A;')).toEqual([
      { kind: 'const', name: 'A', value: 16 },
      { kind: 'const', name: 'B', value: 0x20008086 },
      { kind: 'const', name: 'C', value: 'A' },
    ]);
  });

  it('enums, with the comment before each member', () => {
    const source = 'enum e { /* @readstream: 1 */ FIRST = 1, /** none */ SECOND = -2 };';
    expect(parseXdr(source)).toEqual([
      {
        kind: 'enum',
        name: 'e',
        members: [
          { name: 'FIRST', value: 1, comment: ' @readstream: 1 ' },
          { name: 'SECOND', value: -2, comment: '* none ' },
        ],
      },
    ]);
  });

  it('typedefs', () => {
    expect(parseXdr('typedef opaque uuid[LENGTH];\ntypedef string text<4>;')).toEqual([
      { kind: 'typedef', name: 'uuid', type: { kind: 'fixedOpaque', length: 'LENGTH' } },
      { kind: 'typedef', name: 'text', type: { kind: 'string', max: 4 } },
    ]);
    expect(parseXdr('typedef other *may_be_null;')).toEqual([
      {
        kind: 'typedef',
        name: 'may_be_null',
        type: { kind: 'optional', of: { kind: 'named', name: 'other' } },
      },
    ]);
  });

  it.each([
    ['int i', 'int'],
    ['unsigned int u', 'uint'],
    ['unsigned u', 'uint'],
    ['hyper h', 'hyper'],
    ['unsigned hyper h', 'uhyper'],
    ['double d', 'double'],
    ['char c', 'char'],
    ['unsigned char c', 'uchar'],
    ['short s', 'short'],
    ['unsigned short s', 'ushort'],
  ])('the basic type of "%s"', (declaration, name) => {
    expect(typeOf(declaration)?.type).toEqual({ kind: 'primitive', name });
  });

  it.each([
    ['opaque data<MAX>', { kind: 'opaque', max: 'MAX' }],
    ['char model[32]', { kind: 'fixedChars', length: 32 }],
    ['char label<9>', { kind: 'chars', max: 9 }],
    ['int list<9>', { kind: 'array', max: 9, element: { kind: 'primitive', name: 'int' } }],
    ['other list<9>', { kind: 'array', max: 9, element: { kind: 'named', name: 'other' } }],
    ['other pair[2]', { kind: 'fixedArray', length: 2, element: { kind: 'named', name: 'other' } }],
    ['other *one', { kind: 'optional', of: { kind: 'named', name: 'other' } }],
  ])('the composed type of "%s"', (declaration, type) => {
    expect(typeOf(declaration)?.type).toEqual(type);
  });

  it('unions by number or by the name of one', () => {
    const source = 'union value switch (int type) { case 1: int i; case TEXT: name s; };';
    expect(parseXdr(source)).toEqual([
      {
        kind: 'union',
        name: 'value',
        cases: [
          { value: 1, field: { name: 'i', type: { kind: 'primitive', name: 'int' } } },
          { value: 'TEXT', field: { name: 's', type: { kind: 'named', name: 'name' } } },
        ],
      },
    ]);
  });

  it('comments and lines for the C compiler as nothing', () => {
    expect(
      parseXdr('%#include <libvirt/libvirt.h>\n/* one; { */\nconst A = 1;\n% more'),
    ).toHaveLength(1);
  });
});

describe('the parser refuses, naming the line,', () => {
  it.each([
    ['a program', 'const A = 1;\n\nprogram P { };', /line 3: "program"/],
    ['a bool', 'struct s {\n bool b;\n};', /line 2: "bool" is not supported/],
    ['a void case', 'union u switch (int t) { case 1: void; };', /line 1: "void"/],
    ['a default case', 'union u switch (int t) { default: int i; };', /"case" expected/],
    ['a union by an enum', 'union u switch (kind t) { };', /"int" expected/],
    ['a string without a limit', 'typedef string s<>;', /a name expected/],
    ['a string of fixed length', 'typedef string s[4];', /fixed length/],
    ['a lone opaque', 'struct s { opaque o; };', /needs its length/],
    ['a pointer to an array', 'struct s { int *a<4>; };', /pointer to an array/],
    ['a member by name', 'enum e { A = B };', /needs a number/],
    ['a member without a value', 'enum e { A };', /"=" expected/],
    ['an unknown sign', 'const A = 1;\nconst B = 1 + 1;', /line 2: unexpected "\+"/],
    ['an end in the middle', 'struct s { int', /unexpected end/],
  ])('%s', (_name, source, problem) => {
    expect(() => parseXdr(source)).toThrow(problem);
  });
});

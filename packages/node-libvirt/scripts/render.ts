/** The generated files as text: a pure function of the protocol, in the order of its definition. */
import { camelCase, codecName, constantName, typeName } from './names.ts';
import { type Call, type Compound, innermostName, type Protocol } from './protocol.ts';
import type { Field, Primitive, TypeRef } from './xdr-language.ts';

/** Types that hand-written code uses and no procedure needs. */
const EXTRA_ROOTS = ['virNetMessageError', 'virNetStreamHole'];
const PRIMITIVES: Record<Primitive, { type: 'number' | 'bigint'; codec: string }> = {
  int: { type: 'number', codec: 'int' },
  uint: { type: 'number', codec: 'uint' },
  hyper: { type: 'bigint', codec: 'hyper' },
  uhyper: { type: 'bigint', codec: 'uhyper' },
  double: { type: 'number', codec: 'double' },
  // XDR has nothing smaller than a word.
  char: { type: 'number', codec: 'int' },
  uchar: { type: 'number', codec: 'uint' },
  short: { type: 'number', codec: 'int' },
  ushort: { type: 'number', codec: 'uint' },
};

export function renderProtocol(protocol: Protocol): Record<string, string> {
  const compounds = listReachable(protocol);
  return {
    'constants.ts': renderConstants(protocol),
    'types.ts': compounds.map((each) => renderType(protocol, each)).join('\n'),
    'codecs.ts': renderCodecs(protocol, compounds),
    'procedures.ts': renderProcedures(protocol),
    'event-messages.ts': renderEvents(protocol),
  };
}

/** All types that a call or an event needs, each before the types that use it. */
function listReachable(protocol: Protocol): Compound[] {
  const reached = new Map<string, Compound>();
  const visit = (name: string): void => {
    const compound = protocol.compounds.get(name);
    if (!compound || reached.has(name)) return;
    for (const { type } of fieldsOf(compound)) visit(innermostName(deepResolve(protocol, type)));
    reached.set(name, compound);
  };
  for (const { args, ret } of protocol.calls) for (const name of [args, ret]) visit(name ?? '');
  for (const { message } of protocol.events) visit(message);
  for (const name of EXTRA_ROOTS) visit(name);
  return [...reached.values()];
}

const fieldsOf = (compound: Compound): Field[] =>
  compound.kind === 'struct' ? compound.fields : compound.cases.map(({ field }) => field);

function deepResolve(protocol: Protocol, type: TypeRef): TypeRef {
  const resolved = protocol.resolve(type);
  if (resolved.kind === 'optional') {
    return { kind: 'optional', of: deepResolve(protocol, resolved.of) };
  }
  if ('element' in resolved)
    return { ...resolved, element: deepResolve(protocol, resolved.element) };
  return resolved;
}

function renderType(protocol: Protocol, compound: Compound): string {
  const typeOf = (type: TypeRef) => renderTypeRef(protocol, deepResolve(protocol, type));
  const name = typeName(compound.name);
  if (compound.kind === 'union') {
    const cases = compound.cases.map(
      ({ value, field }) => `  | { type: ${protocol.sizeOf(value)}; value: ${typeOf(field.type)} }`,
    );
    return `export type ${name} =\n${cases.join('\n')};\n`;
  }
  const fields = compound.fields.map(
    (field) => `  ${camelCase(field.name)}: ${typeOf(field.type)};`,
  );
  return `export type ${name} = {\n${fields.join('\n')}\n};\n`;
}

function renderTypeRef(protocol: Protocol, type: TypeRef): string {
  switch (type.kind) {
    case 'primitive':
      return PRIMITIVES[type.name].type;
    case 'named':
      return protocol.compounds.has(type.name) ? typeName(type.name) : 'number';
    case 'string':
    case 'chars':
    case 'fixedChars':
      return 'string';
    case 'opaque':
    case 'fixedOpaque':
      return 'Buffer';
    case 'optional':
      return `${renderTypeRef(protocol, type.of)} | null`;
    case 'array':
    case 'fixedArray':
      return `${renderElement(renderTypeRef(protocol, type.element))}[]`;
  }
}

const renderElement = (type: string): string => (type.includes('|') ? `(${type})` : type);

function renderCodecs(protocol: Protocol, compounds: Compound[]): string {
  const text = compounds.map((each) => renderCodec(protocol, each)).join('\n');
  const combinators = [
    ...['array', 'chars', 'double', 'fixedArray', 'fixedChars', 'fixedOpaque', 'hyper', 'int'],
    ...['opaque', 'optional', 'string', 'struct', 'uhyper', 'uint', 'union'],
  ].filter((name) => new RegExp(`\\b${name}\\b[(,]`).test(text));
  return [
    `import { type Codec, ${combinators.join(', ')} } from '../xdr/codec.ts';`,
    "import type * as types from './types.ts';",
    '',
    text,
  ].join('\n');
}

function renderCodec(protocol: Protocol, compound: Compound): string {
  const codecOf = (type: TypeRef) => renderCodecRef(protocol, deepResolve(protocol, type));
  const lines =
    compound.kind === 'union'
      ? compound.cases.map(
          ({ value, field }) => `${protocol.sizeOf(value)}: ${codecOf(field.type)}`,
        )
      : compound.fields.map(({ name, type }) => `${camelCase(name)}: ${codecOf(type)}`);
  const type = `types.${typeName(compound.name)}`;
  return [
    `export const ${codecName(compound.name)}: Codec<${type}> = /* @__PURE__ */ ${compound.kind}({`,
    ...lines.map((line) => `  ${line},`),
    '});\n',
  ].join('\n');
}

function renderCodecRef(protocol: Protocol, type: TypeRef): string {
  switch (type.kind) {
    case 'primitive':
      return PRIMITIVES[type.name].codec;
    case 'named':
      return protocol.compounds.has(type.name) ? codecName(type.name) : 'int';
    case 'string':
    case 'opaque':
    case 'chars':
      return `/* @__PURE__ */ ${type.kind}(${protocol.sizeOf(type.max)})`;
    case 'fixedOpaque':
    case 'fixedChars':
      return `/* @__PURE__ */ ${type.kind}(${protocol.sizeOf(type.length)})`;
    case 'optional':
      return `/* @__PURE__ */ optional(${renderCodecRef(protocol, type.of)})`;
    case 'array':
    case 'fixedArray': {
      const size = protocol.sizeOf(type.kind === 'array' ? type.max : type.length);
      return `/* @__PURE__ */ ${type.kind}(${size}, ${renderCodecRef(protocol, type.element)})`;
    }
  }
}

function renderProcedures(protocol: Protocol): string {
  return [
    "import { nothing } from '../xdr/codec.ts';",
    "import type { Procedure, StreamProcedure } from '../procedure.ts';",
    "import * as codecs from './codecs.ts';",
    "import { QEMU_PROGRAM, REMOTE_PROGRAM } from './constants.ts';",
    "import type * as types from './types.ts';",
    '',
    ...protocol.calls.map(renderProcedure),
  ].join('\n');
}

function renderProcedure({ name, program, number, args, ret, stream }: Call): string {
  const kind = stream ? 'StreamProcedure' : 'Procedure';
  const typeOf = (struct: string | undefined) => (struct ? `types.${typeName(struct)}` : 'void');
  const codecOf = (struct: string | undefined) =>
    struct ? `codecs.${codecName(struct)}` : 'nothing';
  return [
    `export const ${constantOf(program, name)}: ${kind}<${typeOf(args)}, ${typeOf(ret)}> = {`,
    `  name: '${name}',`,
    `  program: ${program.toUpperCase()}_PROGRAM,`,
    `  number: ${number},`,
    `  args: ${codecOf(args)},`,
    `  ret: ${codecOf(ret)},`,
    ...(stream ? ['  stream: true,'] : []),
    '};\n',
  ].join('\n');
}

function renderEvents(protocol: Protocol): string {
  return [
    "import type { EventMessage } from '../procedure.ts';",
    "import * as codecs from './codecs.ts';",
    "import { QEMU_PROGRAM, REMOTE_PROGRAM } from './constants.ts';",
    "import type * as types from './types.ts';",
    '',
    ...protocol.events.map(({ name, program, number, message }) =>
      [
        `export const ${constantOf(program, name)}: EventMessage<types.${typeName(message)}> = {`,
        `  name: '${name}',`,
        `  program: ${program.toUpperCase()}_PROGRAM,`,
        `  number: ${number},`,
        `  message: codecs.${codecName(message)},`,
        '};\n',
      ].join('\n'),
    ),
  ].join('\n');
}

const constantOf = (program: string, name: string): string =>
  camelCase(program === 'remote' ? name : `${program}_${name}`);

/** Constants of the protocol. The limits of single fields are in their codecs. */
function renderConstants(protocol: Protocol): string {
  const numbers = protocol.constants
    .filter(({ name }) => /_PROGRAM$|_PROTOCOL_VERSION$|^VIR_NET_/.test(name))
    .map(({ name, value }) => `export const ${name.replace(/^VIR_/, '')} = ${value};`);
  const enums = protocol.enums
    .filter(({ name }) => !/^(remote|qemu)_procedure$/.test(name))
    .map(({ name, members }) => {
      const prefix = commonPrefix(members.map((member) => member.name));
      const lines = members.map(
        (member) =>
          `  ${camelCase(member.name.slice(prefix.length).toLowerCase())}: ${member.value},`,
      );
      return `export const ${constantName(name)} = {\n${lines.join('\n')}\n} as const;\n`;
    });
  return `${numbers.join('\n')}\n\n${enums.join('\n')}`;
}

/** Includes the underscore, so that no word is cut. */
function commonPrefix(names: string[]): string {
  const [first = '', ...others] = names;
  let length = first.length;
  while (length > 0 && !others.every((name) => name.startsWith(first.slice(0, length))))
    length -= 1;
  return first.slice(0, first.lastIndexOf('_', length - 1) + 1);
}

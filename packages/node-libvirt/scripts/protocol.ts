/** Combines the parsed definitions of several files: sizes as numbers, calls with their types. */
import type { Definition, Size, TypeRef } from './xdr-language.ts';

/** Constants that the definitions use from libvirt's C headers. */
const FROM_C_HEADERS: Record<string, number> = {
  VIR_UUID_BUFLEN: 16,
  VIR_SECURITY_LABEL_BUFLEN: 4097,
  VIR_SECURITY_MODEL_BUFLEN: 257,
  VIR_SECURITY_DOI_BUFLEN: 257,
  VIR_TYPED_PARAM_INT: 1,
  VIR_TYPED_PARAM_UINT: 2,
  VIR_TYPED_PARAM_LLONG: 3,
  VIR_TYPED_PARAM_ULLONG: 4,
  VIR_TYPED_PARAM_DOUBLE: 5,
  VIR_TYPED_PARAM_BOOLEAN: 6,
  VIR_TYPED_PARAM_STRING: 7,
};

export type Compound = Extract<Definition, { kind: 'struct' | 'union' }>;
export type PlainEnum = Extract<Definition, { kind: 'enum' }>;
export type Call = {
  /** The name in the enum of procedures without its prefix: DOMAIN_GET_XML_DESC. */
  name: string;
  program: 'remote' | 'qemu';
  number: number;
  args: string | undefined;
  ret: string | undefined;
  stream: boolean;
};
export type Event = { name: string; program: 'remote' | 'qemu'; number: number; message: string };

export type Protocol = {
  sizeOf: (size: Size) => number;
  /** Resolves typedefs, so that only structs, unions and enums have names. */
  resolve: (type: TypeRef) => TypeRef;
  compounds: Map<string, Compound>;
  enums: PlainEnum[];
  constants: { name: string; value: number }[];
  calls: Call[];
  events: Event[];
};

export function readProtocol(definitions: Definition[]): Protocol {
  const named = new Map(definitions.map((definition) => [definition.name, definition]));
  const sizeOf = (size: Size): number => {
    if (typeof size === 'number') return size;
    const constant = named.get(size);
    if (constant?.kind === 'const') return sizeOf(constant.value);
    const value = FROM_C_HEADERS[size];
    if (value === undefined) throw new Error(`the constant ${size} is defined nowhere`);
    return value;
  };
  const resolve = (type: TypeRef): TypeRef => {
    if (type.kind !== 'named') return type;
    const target = named.get(type.name);
    if (!target || target.kind === 'const') throw new Error(`${type.name} is no type`);
    return target.kind === 'typedef' ? resolve(target.type) : type;
  };
  const enums = definitions.filter((definition) => definition.kind === 'enum');
  const compounds = new Map(
    definitions
      .filter((each) => each.kind === 'struct' || each.kind === 'union')
      .map((each) => [each.name, each]),
  );
  const constants = definitions
    .filter((definition) => definition.kind === 'const')
    .map(({ name, value }) => ({ name, value: sizeOf(value) }));
  return { sizeOf, resolve, compounds, enums, constants, ...readCalls(enums, compounds) };
}

function readCalls(enums: PlainEnum[], compounds: Map<string, Compound>) {
  const calls: Call[] = [];
  const events: Event[] = [];
  const claimed = new Set<string>();
  const find = (name: string): string | undefined => {
    claimed.add(name);
    return compounds.has(name) ? name : undefined;
  };
  for (const program of ['remote', 'qemu'] as const) {
    const procedures = enums.find(({ name }) => name === `${program}_procedure`);
    if (!procedures) throw new Error(`the definitions have no ${program}_procedure`);
    for (const { name: member, value: number, comment } of procedures.members) {
      const name = member.replace(`${program.toUpperCase()}_PROC_`, '');
      const struct = `${program}_${name.toLowerCase()}`;
      const message = find(`${struct}_msg`);
      if (message) events.push({ name, program, number, message });
      const stream = /@(read|write)stream/.test(comment);
      const types = { args: find(`${struct}_args`), ret: find(`${struct}_ret`) };
      if (!message) calls.push({ name, program, number, ...types, stream });
    }
  }
  checkAllClaimed(compounds, claimed);
  return { calls, events };
}

/** A struct without a procedure would mean that a procedure lost its arguments. */
function checkAllClaimed(compounds: Map<string, Compound>, claimed: Set<string>): void {
  const used = new Set<string>();
  for (const compound of compounds.values()) {
    if (compound.kind !== 'struct') continue;
    for (const { type } of compound.fields) used.add(innermostName(type));
  }
  for (const name of compounds.keys()) {
    if (/_(args|ret|msg)$/.test(name) && !claimed.has(name) && !used.has(name)) {
      throw new Error(`${name} belongs to no procedure`);
    }
  }
}

export function innermostName(type: TypeRef): string {
  if (type.kind === 'named') return type.name;
  if (type.kind === 'optional') return innermostName(type.of);
  return 'element' in type ? innermostName(type.element) : '';
}

import { describe, expect, it } from 'vitest';
import { camelCase, codecName, constantName, typeName } from './names.ts';
import { readProtocol } from './protocol.ts';
import { renderProtocol } from './render.ts';
import { parseXdr } from './xdr-language.ts';

const NET = `
  const VIR_NET_MESSAGE_MAX = 64;
  struct virNetMessageError { int code; };
  struct virNetStreamHole { hyper length; };
`;
const SOURCE = `
  const REMOTE_PROGRAM = 0x20008086;
  const QEMU_PROGRAM = 0x20008087;
  const MAX = 4;
  typedef string remote_nonnull_string<MAX>;
  typedef remote_nonnull_string *remote_string;
  typedef opaque remote_uuid[VIR_UUID_BUFLEN];
  struct remote_nonnull_domain { remote_nonnull_string name; remote_uuid uuid; int id; };
  typedef remote_nonnull_domain *remote_domain;
  enum remote_auth_type { REMOTE_AUTH_NONE = 0, REMOTE_AUTH_SASL = 1 };
  union remote_value switch (int type) { case VIR_TYPED_PARAM_INT: int i; case 7: remote_string s; };
  struct remote_unused { int nothing; };
  struct remote_domain_look_up_args { remote_domain dom; remote_auth_type types<MAX>; };
  struct remote_domain_look_up_ret { remote_value values<MAX>; hyper hv_ver; };
  struct remote_domain_event_reboot_msg { int callbackID; remote_nonnull_domain dom; };
  enum remote_procedure {
    /** @generate: both */ REMOTE_PROC_DOMAIN_LOOK_UP = 23,
    /** @readstream: 2 */ REMOTE_PROC_DOMAIN_OPEN_CONSOLE = 201,
    REMOTE_PROC_DOMAIN_EVENT_REBOOT = 24
  };
  struct qemu_domain_agent_command_ret { remote_string result; };
  enum qemu_procedure { QEMU_PROC_DOMAIN_AGENT_COMMAND = 3 };
`;
const render = (source: string) => renderProtocol(readProtocol(parseXdr(source)));

describe('rendering', () => {
  const files = render(NET + SOURCE);

  it('writes TypeScript types, resolves typedefs, and leaves out unused types', () => {
    const types = files['types.ts'];
    expect(types).toContain(
      'export type Domain = {\n  name: string;\n  uuid: Buffer;\n  id: number;\n};',
    );
    expect(types).toContain('  dom: Domain | null;\n  types: number[];');
    expect(types).toContain('  values: Value[];\n  hvVer: bigint;');
    expect(types).toContain(
      '  | { type: 1; value: number }\n  | { type: 7; value: string | null };',
    );
    expect(types).toContain(
      'export type QemuDomainAgentCommandRet = {\n  result: string | null;\n};',
    );
    expect(types).not.toContain('Unused');
  });

  it('writes codecs with the limits of the definition', () => {
    expect(files['codecs.ts']).toContain(
      [
        'export const domainCodec: Codec<types.Domain> = /* @__PURE__ */ struct({',
        '  name: /* @__PURE__ */ string(4),',
        '  uuid: /* @__PURE__ */ fixedOpaque(16),',
        '  id: int,',
        '});',
      ].join('\n'),
    );
    expect(files['codecs.ts']).toContain('types: /* @__PURE__ */ array(4, int)');
    expect(files['codecs.ts']).toContain('dom: /* @__PURE__ */ optional(domainCodec)');
  });

  it('writes a constant for each procedure and distinguishes calls, streams and events', () => {
    const { 'procedures.ts': procedures, 'event-messages.ts': events } = files;
    expect(procedures).toContain(
      'domainLookUp: Procedure<types.DomainLookUpArgs, types.DomainLookUpRet> = {',
    );
    expect(procedures).toContain('domainOpenConsole: StreamProcedure<void, void> = {');
    expect(procedures).toContain('qemuDomainAgentCommand: Procedure<void,');
    expect(procedures).not.toContain('Reboot');
    expect(events).toContain('domainEventReboot: EventMessage<types.DomainEventRebootMsg> = {');
  });

  it('gives the same output each time', () => {
    expect(render(NET + SOURCE)).toEqual(files);
  });

  it.each([
    ['a struct without its procedure', 'struct remote_lost_args { int i; };', /belongs to no proc/],
    ['an undefined size', 'struct remote_s { int i<SIZE>; };', /SIZE is defined nowhere/],
    ['an undefined type', 'struct remote_s { other o; };', /other is no type/],
  ])('fails with a clear error on %s', (_name, extra, problem) => {
    const user = SOURCE.replace('hyper hv_ver;', 'hyper hv_ver; remote_s s;');
    expect(() => render(NET + extra + (extra.includes('remote_s') ? user : SOURCE))).toThrow(
      problem,
    );
  });
});

it('names follow one rule each', () => {
  expect(['DOMAIN_GET_XML_DESC', 'hv_ver', 'callbackID', 'usageType'].map(camelCase)).toEqual([
    'domainGetXmlDesc',
    'hvVer',
    'callbackId',
    'usageType',
  ]);
  expect(typeName('remote_nonnull_storage_vol')).toBe('StorageVol');
  expect(typeName('virNetMessageNonnullDomain')).toBe('NetMessageDomain');
  expect(codecName('remote_nonnull_domain')).toBe('domainCodec');
  expect(constantName('virNetMessageType')).toBe('NET_MESSAGE_TYPE');
});

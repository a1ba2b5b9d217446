import { describe, expect, it } from 'vitest';
import type { VmSpec } from '../spec.ts';
import { makeInterface, makeVm } from '../testing/make-spec.ts';
import { renderMetaData, renderSeedFiles, renderUserData } from './nocloud.ts';

const ID = '0198c5a2-7d4e-7b11-9c3f-1f2e3d4c5b6a';
const KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVl me@home';

type UserData = {
  hostname: string;
  ssh_authorized_keys?: string[];
  write_files?: { path: string; permissions: string; encoding: string; content: string }[];
  runcmd?: string[][];
  [name: string]: unknown;
};

function userData(vm: VmSpec): UserData {
  const [header, ...lines] = renderUserData(vm).split('\n');
  expect(header).toBe('#cloud-config');
  return JSON.parse(lines.join('\n'));
}

function plainFiles(vm: VmSpec): Record<string, string> {
  const files = renderSeedFiles(vm, { nameservers: [] });
  return Object.fromEntries(files.map(({ name, content }) => [name, content.toString()]));
}

describe('meta-data', () => {
  it('has plain lines, with the VM id as instance id, so that no later boot counts as the first', () => {
    const before = renderMetaData(makeVm(ID, { name: 'trainer-1' }));
    expect(before).toBe(`instance-id: ${ID}\nlocal-hostname: trainer-1\n`);
    const later = renderMetaData(makeVm(ID, { name: 'renamed', revision: '9', generation: '4' }));
    expect(later).toContain(`instance-id: ${ID}\n`);
  });

  it.each(['on', 'null', 'true', '123', '2024-01-01', '1e5', '0x10', '12-30'])(
    'quotes the name %s, which YAML would not read as text',
    (name) => {
      expect(renderMetaData(makeVm(ID, { name }))).toContain(`local-hostname: "${name}"\n`);
    },
  );

  it.each([
    ['', ID],
    ['---', ID],
    ['-edge-', 'edge'],
  ])('makes a host name from the VM name "%s"', (name, expected) => {
    expect(renderMetaData(makeVm(ID, { name }))).toContain(`local-hostname: ${expected}\n`);
  });
});

describe('user-data', () => {
  it('accepts the key for the default user and for root, and no password', () => {
    expect(userData(makeVm(ID, { name: 'a', sshPublicKey: `${KEY}\n` }))).toMatchObject({
      hostname: 'a',
      ssh_authorized_keys: [KEY],
      disable_root: false,
      ssh_pwauth: false,
    });
  });

  it('accepts every key', () => {
    const others = [KEY.replace('me@home', 'ci'), `${KEY.replace('me@home', 'other')}\n`];
    const all = [KEY, ...others.map((key) => key.trim())];
    const vm = makeVm(ID, { sshPublicKey: KEY, sshKeys: others });
    expect(userData(vm).ssh_authorized_keys).toEqual(all);
    expect(plainFiles(vm)['gantry-key']).toBe(`${all.join('\n')}\n`);
  });

  it('installs no key, file or command if there is none', () => {
    const data = userData(makeVm(ID));
    expect(Object.keys(data)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/ssh_authorized_keys|write_files|runcmd/)]),
    );
  });

  it('carries scripts byte for byte', () => {
    const script = `#!/bin/sh\necho "it's: {[#&*!|>%@\`" $'\\x00' \u2028 \u{1f600} \r\n---\n...\n`;
    const vm = makeVm(ID, { startupScript: script, shutdownScript: `${script}# end` });
    const files = new Map(userData(vm).write_files?.map((file) => [file.path, file]));
    for (const [path, text] of [
      ['/var/lib/gantry/startup-script', script],
      ['/var/lib/gantry/shutdown-script', `${script}# end`],
    ] as const) {
      const file = files.get(path);
      expect(file).toMatchObject({ permissions: '0700', encoding: 'b64' });
      expect(Buffer.from(file?.content ?? '', 'base64').toString()).toBe(text);
    }
  });

  it('installs the shutdown script before a startup script that may never end', () => {
    const vm = makeVm(ID, { startupScript: '#!/bin/sh\n', shutdownScript: '#!/bin/sh\n' });
    expect(userData(vm).runcmd).toEqual([
      ['systemctl', 'daemon-reload'],
      ['systemctl', 'enable', 'gantry-shutdown.service'],
      ['systemctl', 'start', '--no-block', 'gantry-shutdown.service'],
      ['/bin/sh', '/var/lib/gantry/run-script', 'startup'],
    ]);
  });

  it('escapes what YAML readers refuse or fold, even inside quotes', () => {
    const odd = '\u007f\u0085\u009f\u2028\u2029\ufeff';
    const text = renderUserData(makeVm(ID, { sshPublicKey: `${KEY}${odd}\u{1f600}x` }));
    for (const character of odd) expect(text).not.toContain(character);
    expect(JSON.parse(text.replace('#cloud-config\n', '')).ssh_authorized_keys).toEqual([
      `${KEY}${odd}\u{1f600}x`,
    ]);
  });
});

describe('the files of a VM with user data', () => {
  const theirs = '#cloud-config\nruncmd: [[reboot]]\n';
  const scripts = { startupScript: '#!/bin/sh\nup\n', shutdownScript: '#!/bin/sh\ndown' };
  const keys = { sshPublicKey: KEY, sshKeys: [KEY.replace('me@home', 'ci')] };

  it('have it byte for byte, and ours as vendor-data', () => {
    const userData = `${theirs}# \u{1f600}\r\n`;
    const files = plainFiles(makeVm(ID, { name: 'a', userData }));
    expect(files['user-data']).toBe(userData);
    const [header, ...lines] = (files['vendor-data'] ?? '').split('\n');
    expect(header).toBe('#cloud-config');
    const settings = { hostname: 'a', disable_root: false, ssh_pwauth: false };
    expect(JSON.parse(lines.join('\n'))).toMatchObject(settings);
  });

  it('have the keys in meta-data and for guests without cloud-init', () => {
    const files = plainFiles(makeVm(ID, { userData: theirs, ...keys }));
    const [, list = ''] = /^public-keys: (.*)$/m.exec(files['meta-data'] ?? '') ?? [];
    expect(JSON.parse(list)).toEqual([KEY, KEY.replace('me@home', 'ci')]);
    expect(files['gantry-key']?.trimEnd().split('\n')).toEqual(JSON.parse(list));
  });

  it('have the scripts in a part of vendor-data that no list of the tenant replaces', () => {
    const vendorData =
      plainFiles(makeVm(ID, { userData: theirs, ...scripts }))['vendor-data'] ?? '';
    expect(vendorData).toMatch(/^Content-Type: multipart\/mixed; boundary="gantry-part"$/m);
    const types = [...vendorData.matchAll(/^--gantry-part\nContent-Type: ([^;]+);/gm)];
    expect(types.map(([, type]) => type)).toEqual(['text/cloud-config', 'text/x-shellscript']);
    expect(vendorData).not.toMatch(/runcmd|write_files/);
    for (const script of Object.values(scripts))
      expect(vendorData).toContain(`\n${Buffer.from(script).toString('base64')}\nEND\n`);
  });
});

describe('the files for guests without cloud-init', () => {
  it('contain key, scripts and addresses in lines that a shell reads', () => {
    const interfaces = [
      makeInterface('a', { mac: '02:00:00:00:00:0A' }),
      makeInterface('b', { mac: '02:00:00:00:00:0b', privateIpv4: '10.1.0.9/20', gatewayIpv4: '' }),
    ];
    const scripts = { startupScript: '#!/bin/sh\nup\n', shutdownScript: '#!/bin/sh\ndown' };
    expect(plainFiles(makeVm(ID, { interfaces, sshPublicKey: KEY, ...scripts }))).toMatchObject({
      'gantry-address': '02:00:00:00:00:0a 10.0.0.5/24 10.0.0.1\n02:00:00:00:00:0b 10.1.0.9/20 -\n',
      'gantry-key': `${KEY}\n`,
      'gantry-startup': '#!/bin/sh\nup\n',
      'gantry-shutdown': '#!/bin/sh\ndown',
    });
  });

  it('are left out if they would be empty', () => {
    expect(Object.keys(plainFiles(makeVm(ID, { interfaces: [] })))).toEqual([
      'meta-data',
      'user-data',
      'network-config',
    ]);
  });
});

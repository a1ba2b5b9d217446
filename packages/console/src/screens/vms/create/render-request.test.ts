import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { renderCli, renderCurl, renderSdk } from './render-request.ts';
import { EMPTY_DRAFT, toCreateVmBody } from './vm-draft.ts';

const place = {
  origin: 'https://gantry.example.com',
  projectId: 'p-1',
  names: new Map([
    ['n-1', 'back end'],
    ['d-1', 'old data'],
    ['a-1', 'front'],
  ]),
};
const draft = {
  ...EMPTY_DRAFT,
  ...{ name: 'trainer', type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
};
/** What a shell makes of the arguments of a command. */
const wordsOf = (command: string) =>
  execFileSync('sh', ['-c', command.replace(/^(curl|gantry)/, 'printf "%s\\n"')]).toString();

describe('the request for a draft', () => {
  it('leaves out everything that the draft leaves at its default', () => {
    expect(toCreateVmBody({ ...draft, pastedKeys: ' ssh-ed25519 AAAA a@b \n' })).toEqual({
      ...{ name: 'trainer', type: 'a40.1x', location: 'eu-north-a', image: 'debian-12' },
      ssh_public_key: 'ssh-ed25519 AAAA a@b',
    });
  });

  it('has all keys, the network, the tags and the user data', () => {
    const body = toCreateVmBody({
      ...draft,
      ...{ storedKeys: ['laptop'], pastedKeys: 'key-1\nkey-2', networkId: 'n-1' },
      ...{ publicAddress: 'none', tags: 'env=prod, note=a=b\nempty', userData: '#cloud-config\n' },
    });
    expect(body).toMatchObject({
      ssh_public_key: 'key-1',
      ssh_keys: ['laptop', 'key-2'],
      network_interfaces: [{ network_id: 'n-1', public_ipv4: { type: 'none' } }],
      tags: { env: 'prod', note: 'a=b', empty: '' },
      user_data: '#cloud-config\n',
    });
  });

  it('attaches disks, creates disks, and has a reserved address', () => {
    const body = toCreateVmBody({
      ...draft,
      ...{ existingDisks: ['d-1'], newDisks: [{ key: 1, name: 'data', sizeGib: '50' }] },
      publicAddress: 'a-1',
    });
    expect(body).toMatchObject({
      disks: [{ disk_id: 'd-1' }, { name: 'data', size: '50GiB' }],
      network_interfaces: [{ public_ipv4: { type: 'reserved', id: 'a-1' } }],
    });
  });
});

describe('the request as commands', () => {
  const body = toCreateVmBody({ ...draft, tags: "note=it's; rm -rf $HOME", networkId: 'n-1' });

  it('survives a shell as curl, with the body unchanged', () => {
    const words = wordsOf(renderCurl(body, place));
    expect(JSON.parse(words.slice(words.indexOf('\n{')))).toEqual(body);
    expect(words).toContain('https://gantry.example.com/v0.1/projects/p-1/vms');
  });

  it('survives a shell as a command line, with the name of the network', () => {
    const words = wordsOf(renderCli(body, place)).split('\n');
    expect(words).toEqual(
      expect.arrayContaining(["note=it's; rm -rf $HOME", 'back end', 'trainer']),
    );
  });

  it('has stored keys, disks and addresses by name, and the user data as a file', () => {
    const command = renderCli(
      {
        ...body,
        ...{ ssh_keys: ['laptop', 'ssh-rsa A'], user_data: '#!' },
        disks: [{ disk_id: 'd-1' }, { name: 'new', size: '5GiB' }],
        network_interfaces: [{ public_ipv4: { type: 'reserved', id: 'a-1' } }],
      },
      place,
    );
    const words = wordsOf(command.slice(command.indexOf('gantry')));
    expect(words).toContain(
      ['--ssh-key', 'laptop', '--public-address', 'front', '--disk', 'old data'].join('\n'),
    );
    expect(words).toContain(['--disk', 'new=5GiB', '--tag'].join('\n'));
    expect(words).toContain(['--user-data', 'user-data.txt'].join('\n'));
  });

  it('is the same body in the program', () => {
    expect(renderSdk(body, place)).toContain('"name": "trainer"');
  });
});

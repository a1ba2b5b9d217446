import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Sysfs } from '../base/sysfs.ts';
import { writeSysfsTree } from '../base/sysfs-tree.ts';
import { chooseNameServers } from './name-servers.ts';

const UPSTREAM = 'run/systemd/resolve/resolv.conf';
const RESOLV_CONF = 'etc/resolv.conf';

describe('the name servers of guests', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'gantry-name-servers-'));
  });
  afterEach(() => rm(root, { recursive: true }));

  const choose = (configured: string[] = [], uplink: string | undefined = 'ens1') =>
    chooseNameServers({ configured, uplink, files: new Sysfs(root) });

  it("are systemd-resolved's upstream servers, not its stub on the loopback interface", async () => {
    await writeSysfsTree(root, {
      [RESOLV_CONF]: '# made by systemd\nnameserver 127.0.0.53\noptions edns0\n',
      [UPSTREAM]: 'nameserver 192.0.2.1\nnameserver 192.0.2.2\nsearch example.com\n',
    });
    expect(await choose()()).toEqual(['192.0.2.1', '192.0.2.2']);
  });

  it('are those of /etc/resolv.conf on a host without systemd-resolved, each once', async () => {
    await writeSysfsTree(root, {
      [RESOLV_CONF]: 'nameserver 192.0.2.3\nnameserver\t192.0.2.3\n#nameserver 192.0.2.4\n',
    });
    expect(await choose()()).toEqual(['192.0.2.3']);
  });

  it.each(['127.0.0.1', '0.0.0.0', '169.254.169.253', '::1', '2001:db8::53', 'dns.example'])(
    'are never %s, which a guest cannot reach',
    async (address) => {
      await writeSysfsTree(root, { [RESOLV_CONF]: `nameserver ${address}\n` });
      expect(await choose()()).toEqual([]);
    },
  );

  it("are the operator's list if there is one", async () => {
    await writeSysfsTree(root, { [RESOLV_CONF]: 'nameserver 192.0.2.3\n' });
    expect(await choose(['198.51.100.53'])()).toEqual(['198.51.100.53']);
  });

  it('are none without an uplink, unless the operator lists some', async () => {
    await writeSysfsTree(root, { [RESOLV_CONF]: 'nameserver 192.0.2.3\n' });
    const withoutUplink = (configured: string[]) =>
      chooseNameServers({ configured, uplink: undefined, files: new Sysfs(root) })();
    expect(await withoutUplink([])).toEqual([]);
    expect(await withoutUplink(['10.0.0.2'])).toEqual(['10.0.0.2']);
  });

  it('follow the host: servers that it learns later are used', async () => {
    const nameservers = choose();
    expect(await nameservers()).toEqual([]);
    await writeSysfsTree(root, { [UPSTREAM]: 'nameserver 192.0.2.1\n' });
    expect(await nameservers()).toEqual(['192.0.2.1']);
  });
});

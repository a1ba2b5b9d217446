import { describe, expect, it } from 'vitest';
import { makeInterface } from '../testing/make-spec.ts';
import { renderNetworkConfig } from './network-config.ts';

const render = (...args: Parameters<typeof renderNetworkConfig>) =>
  JSON.parse(renderNetworkConfig(...args));

describe('network-config', () => {
  it('gives an interface, matched by its MAC, its address, gateway, name servers and MTU', () => {
    const iface = makeInterface('a', { mac: '02:00:00:00:00:0A' });
    expect(render([iface], { nameservers: ['10.0.0.2'], mtu: 1450 })).toEqual({
      version: 2,
      ethernets: {
        eth0: {
          match: { macaddress: '02:00:00:00:00:0a' },
          'set-name': 'eth0',
          dhcp4: false,
          dhcp6: false,
          addresses: ['10.0.0.5/24'],
          routes: [{ to: '0.0.0.0/0', via: '10.0.0.1' }],
          nameservers: { addresses: ['10.0.0.2'] },
          mtu: 1450,
        },
      },
    });
  });

  it('has no route, name server or MTU that was not given', () => {
    const { ethernets } = render([makeInterface('a', { gatewayIpv4: '' })], { nameservers: [] });
    expect(ethernets.eth0).not.toHaveProperty('routes');
    expect(ethernets.eth0).not.toHaveProperty('nameservers');
    expect(ethernets.eth0).not.toHaveProperty('mtu');
  });

  it('prefers the first gateway, and uses name servers only if a gateway leads to them', () => {
    const interfaces = [
      makeInterface('a'),
      makeInterface('b', { mac: '02:00:00:00:00:02', gatewayIpv4: '' }),
      makeInterface('c', { mac: '02:00:00:00:00:03', gatewayIpv4: '10.2.0.1' }),
    ];
    const { ethernets } = render(interfaces, { nameservers: ['10.0.0.2'] });
    expect(ethernets.eth0.routes).toEqual([{ to: '0.0.0.0/0', via: '10.0.0.1' }]);
    expect(ethernets.eth2.routes).toEqual([{ to: '0.0.0.0/0', via: '10.2.0.1', metric: 200 }]);
    expect(ethernets.eth0.nameservers).toBeDefined();
    expect(ethernets.eth1.nameservers).toBeUndefined();
    expect(ethernets.eth2.nameservers).toBeDefined();
  });

  it('declares that a VM without interfaces has none', () => {
    expect(render([], { nameservers: ['10.0.0.2'] })).toEqual({ version: 2, ethernets: {} });
  });
});

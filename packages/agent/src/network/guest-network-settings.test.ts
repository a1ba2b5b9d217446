import { createSettingsReader } from '@gantry/daemon/settings';
import { describe, expect, it } from 'vitest';
import { readGuestNetworkSettings } from './guest-network-settings.ts';

const read = (env: Record<string, string>) => readGuestNetworkSettings(createSettingsReader(env));

describe('the network settings of guests', () => {
  it('default to the MTU that fits between hosts', () => {
    expect(read({})).toEqual({ nameservers: [], mtu: 1450 });
  });

  it('are the configured name servers and MTU', () => {
    expect(
      read({ GANTRY_NAMESERVERS: '10.0.0.2, 2001:db8::1,', GANTRY_GUEST_MTU: '8900' }),
    ).toEqual({ nameservers: ['10.0.0.2', '2001:db8::1'], mtu: 8900 });
  });

  it.each([
    ['GANTRY_NAMESERVERS', 'dns.example'],
    ['GANTRY_GUEST_MTU', '500'],
    ['GANTRY_GUEST_MTU', 'jumbo'],
  ])('are refused, with the name of the variable, if %s is %s', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(name);
  });
});

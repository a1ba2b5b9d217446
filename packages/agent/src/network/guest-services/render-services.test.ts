import { describe, expect, it } from 'vitest';
import { makeInterface } from '../../testing/make-spec.ts';
import { renderFirewall } from '../firewall/render-firewall.ts';
import { assignServiceAddresses } from '../kernel/service-addresses.ts';
import { parseInterface } from '../parse-interface.ts';
import { renderServiceSteering, renderServices } from './render-services.ts';

const ids = Array.from({ length: 2_000 }, (_, index) => `interface-${index}`);

describe('service addresses', () => {
  it('are one per interface, in a block that has no other use', () => {
    const addresses = assignServiceAddresses(ids);
    expect(new Set(addresses.values()).size).toBe(ids.length);
    for (const address of addresses.values()) expect(address).toMatch(/^240\.0\.\d+\.\d+$/);
  });

  it('stay the same when other interfaces are added or removed', () => {
    expect(assignServiceAddresses(['interface-7']).get('interface-7')).toBe(
      assignServiceAddresses(ids.slice(0, 50)).get('interface-7'),
    );
  });

  it('are set on the tap and removed by the same table of the same interface', () => {
    const interfaces = ['red', 'blue'].map((id) =>
      parseInterface(makeInterface(id, { networkId: `of-${id}` })),
    );
    const addresses = assignServiceAddresses(['red', 'blue']);
    const steering = renderServiceSteering(interfaces).join('\n');
    const services = renderServices(interfaces).join('\n');
    for (const { id, tap, mark, address } of interfaces) {
      const service = addresses.get(id);
      expect(steering).toContain(`"${tap}" : ${service}`);
      expect(services).toContain(`${service} : ${mark}`);
      expect(services).toContain(`${service} : ${address}`);
    }
  });
});

describe('a guest’s packets', () => {
  it('reach the agent only after MAC and address were checked', () => {
    const { text } = renderFirewall({ rules: [], interfaces: [makeInterface('n')] }, null);
    const [, chain = ''] = text.split('chain from_guest {\n');
    const lines = chain.split('\t}\n')[0]?.split('\n') ?? [];
    const at = (part: string) => lines.findIndex((line) => line.includes(part));
    expect(at('foreign MAC')).toBe(0);
    expect(at('saddr 0.0.0.0')).toBeGreaterThan(at('DHCP server'));
    expect(at('goto to_host')).toBeGreaterThan(at('!= @guests'));
  });

  it('cannot have the service address of another guest', () => {
    const iface = makeInterface('n', { privateIpv4: '240.0.1.2/24' });
    expect(() => renderFirewall({ rules: [], interfaces: [iface] }, null)).toThrow(
      'reserves for its services',
    );
    const beyond = makeInterface('n', { privateIpv4: '240.1.0.0/24' });
    expect(() => renderFirewall({ rules: [], interfaces: [beyond] }, null)).not.toThrow();
  });
});

import { SSH_PUBLIC_KEY } from './tenants.ts';

/** Complete request bodies from the fields that a test needs. */
type Fields = Record<string, unknown>;

export const LOCATION = 'eu-north-a';

let named = 0;

/** Returns a new name, because names are unique per project and kind. */
export function newName(): string {
  named += 1;
  return `name-${named}`;
}

export function vmBody(changes: Fields = {}): Fields {
  return {
    name: newName(),
    type: 'a40.1x',
    location: LOCATION,
    image: 'debian-12',
    ssh_public_key: SSH_PUBLIC_KEY,
    ...changes,
  };
}

export function diskBody(changes: Fields = {}): Fields {
  return { name: newName(), size: '100GiB', location: LOCATION, ...changes };
}

export function ruleBody(networkId: string, changes: Fields = {}): Fields {
  return {
    name: newName(),
    vpc_network_id: networkId,
    action: 'allow',
    direction: 'ingress',
    protocols: ['tcp'],
    sources: [{ cidr: '10.0.0.0/8' }],
    source_ports: [],
    destinations: [{ resource_id: networkId }],
    destination_ports: ['443'],
    ...changes,
  };
}

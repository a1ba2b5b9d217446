/** Every new project has one network with a subnet in each location, and four firewall rules. */
export const DEFAULT_NETWORK = {
  name: 'default-vpc-network',
  cidr: '172.27.0.0/16',
  subnetPrefix: 20,
};

export type DefaultRule = {
  name: string;
  direction: 'ingress' | 'egress';
  protocols: ('tcp' | 'udp' | 'icmp')[];
  destinationPorts: string[];
  /** The other side of the traffic: the network itself, or any address. */
  from: 'anywhere' | 'network';
};

export const DEFAULT_RULES: readonly DefaultRule[] = [
  {
    name: 'default-allow-ssh',
    direction: 'ingress',
    protocols: ['tcp'],
    destinationPorts: ['22'],
    from: 'anywhere',
  },
  {
    name: 'default-allow-icmp',
    direction: 'ingress',
    protocols: ['icmp'],
    destinationPorts: [],
    from: 'anywhere',
  },
  {
    name: 'default-allow-internal',
    direction: 'ingress',
    protocols: ['tcp', 'udp', 'icmp'],
    destinationPorts: [],
    from: 'network',
  },
  {
    name: 'default-allow-egress',
    direction: 'egress',
    protocols: ['tcp', 'udp', 'icmp'],
    destinationPorts: [],
    from: 'anywhere',
  },
];

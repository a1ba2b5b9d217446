// Original file: gantry/v1/host.proto


export interface Nic {
  'name'?: (string);
  'mac'?: (string);
  'pciAddress'?: (string);
  'speedMbps'?: (number);
  'mtu'?: (number);
  'up'?: (boolean);
  'infiniband'?: (boolean);
  '_speedMbps'?: "speedMbps";
}

export interface Nic__Output {
  'name': (string);
  'mac': (string);
  'pciAddress': (string);
  'speedMbps'?: (number);
  'mtu': (number);
  'up': (boolean);
  'infiniband': (boolean);
  '_speedMbps'?: "speedMbps";
}

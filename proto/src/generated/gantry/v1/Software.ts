// Original file: gantry/v1/host.proto


export interface Software {
  'os'?: (string);
  'kernel'?: (string);
  'firmware'?: (string);
  'libvirt'?: (string);
  'agent'?: (string);
  'commandLine'?: (string);
  'iommu'?: (string);
  'capabilities'?: (string)[];
}

export interface Software__Output {
  'os': (string);
  'kernel': (string);
  'firmware': (string);
  'libvirt': (string);
  'agent': (string);
  'commandLine': (string);
  'iommu': (string);
  'capabilities': (string)[];
}

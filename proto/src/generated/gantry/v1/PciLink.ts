// Original file: gantry/v1/host.proto


export interface PciLink {
  'speedGts'?: (number | string);
  'maxSpeedGts'?: (number | string);
  'width'?: (number);
  'maxWidth'?: (number);
}

export interface PciLink__Output {
  'speedGts': (number);
  'maxSpeedGts': (number);
  'width': (number);
  'maxWidth': (number);
}

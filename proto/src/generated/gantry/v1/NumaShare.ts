// Original file: gantry/v1/host.proto


export interface NumaShare {
  'node'?: (number);
  'cpuCores'?: (number);
  'memoryMib'?: (number);
}

export interface NumaShare__Output {
  'node': (number);
  'cpuCores': (number);
  'memoryMib': (number);
}

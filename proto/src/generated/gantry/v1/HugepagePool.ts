// Original file: gantry/v1/host.proto


export interface HugepagePool {
  'pageKib'?: (number);
  'total'?: (number);
  'free'?: (number);
}

export interface HugepagePool__Output {
  'pageKib': (number);
  'total': (number);
  'free': (number);
}

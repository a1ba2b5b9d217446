// Original file: gantry/v1/host.proto


export interface AgentUpgrade {
  'id'?: (string);
  'version'?: (string);
  'timeLimitSeconds'?: (number);
}

export interface AgentUpgrade__Output {
  'id': (string);
  'version': (string);
  'timeLimitSeconds': (number);
}

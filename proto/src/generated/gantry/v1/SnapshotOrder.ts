// Original file: gantry/v1/host.proto


export interface SnapshotOrder {
  'id'?: (string);
  'diskId'?: (string);
  'frozen'?: (boolean);
}

export interface SnapshotOrder__Output {
  'id': (string);
  'diskId': (string);
  'frozen': (boolean);
}

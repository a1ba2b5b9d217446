// Original file: gantry/v1/host.proto

import type { Long } from '@grpc/proto-loader';

export interface DriveHealth {
  'criticalWarning'?: (number);
  'percentageUsed'?: (number);
  'availableSpare'?: (number);
  'spareThreshold'?: (number);
  'mediaErrors'?: (number | string | Long);
}

export interface DriveHealth__Output {
  'criticalWarning': (number);
  'percentageUsed': (number);
  'availableSpare': (number);
  'spareThreshold': (number);
  'mediaErrors': (string);
}

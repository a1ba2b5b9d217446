import type { Schemas } from '@gantry/sdk';
import type { Tone } from '../../../components/badge.tsx';

type Standing = Schemas['Standing']['standing'];

const STANDINGS: Record<Standing, { label: string; tone: Tone }> = {
  good: { label: 'Good', tone: 'good' },
  payment_problem: { label: 'Payment problem', tone: 'warn' },
  suspended: { label: 'Suspended', tone: 'bad' },
};

export const describeStanding = (standing: Standing) => STANDINGS[standing];

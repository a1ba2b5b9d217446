import { describeLife } from './support/describe-life.ts';

describeLife('trixie');

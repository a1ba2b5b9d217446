/**
 * Where a list begins when no page came before. An id beyond all others, rather than "or there is
 * none": so every page is one range of the index, and the thousandth costs what the first does.
 */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

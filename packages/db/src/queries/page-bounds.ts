/**
 * Cursors of the first page: ids before and after all others. With them every page reads one range
 * of the index and has the same cost. A condition such as "cursor is null or …" would read the
 * whole index.
 */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Cursors of the first page: ids before and after all others. With them every page is one range of
 * the index, which a condition "cursor is null or …" would not be, so every page costs the same.
 */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

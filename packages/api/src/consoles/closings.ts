/** Why a console ends: the WebSocket's close code, and what people read. Words of hosts are among them. */
export const CLOSINGS = {
  stopping: [1001, 'this api process stops: open the console again'],
  rights_ended: [4401, 'the credential was revoked, or may not do this any more'],
  idle: [4408, 'nothing was printed or typed for too long'],
  vm_not_running: [4409, 'the VM does not run'],
  vm_stopped: [4410, 'the VM has ended'],
  too_many_consoles: [4429, 'the VM has as many consoles open as it may: close one'],
  host_failed: [4500, 'the host of the VM could not keep the console open'],
  host_unreachable: [4503, 'the host of the VM is not heard from'],
} as const;
export type Closing = keyof typeof CLOSINGS;

/** What a host says: a word that is not known here is a failure like any other. */
export function closingOf(word: string): Closing {
  return word in CLOSINGS ? (word as Closing) : 'host_failed';
}

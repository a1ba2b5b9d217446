import { describeVmState, type VmState } from '../../../format/vm-state.ts';

export type EventLine = { id: string; text: string; at: string };

type Data = {
  id?: string;
  name?: string;
  state?: string;
  admin_state?: string;
  connected?: boolean;
  trouble?: string;
  drift?: string[];
  deleted?: boolean;
  message?: string;
  operation_name?: string;
  resource_type?: string;
  step?: string;
  host_id?: string;
  items?: { pci_address: string; vm_id: string | null; state: string }[];
  created_at?: string;
};

/** Returns an event of the stream as a sentence; null if it is of no interest to people. */
export function describeEvent(event: {
  id: string;
  type: string;
  data: unknown;
}): EventLine | null {
  const data = (event.data ?? {}) as Data;
  const text = sentence(event.type, data);
  if (text === null) return null;
  // An incident has an id of its own, by which the list of earlier ones knows it.
  const id = event.type === 'event' ? (data.id ?? event.id) : event.id;
  return { id, text, at: data.created_at ?? new Date().toISOString() };
}

function sentence(type: string, data: Data): string | null {
  switch (type) {
    case 'host':
      return `Host ${data.name}: ${hostState(data)}`;
    case 'vm':
      return data.deleted
        ? `VM ${data.name}: gone`
        : `VM ${data.name}: ${describeVmState(data.state as VmState).label.toLowerCase()}`;
    case 'operation':
      return data.state === 'FAILED'
        ? `${data.operation_name} of a ${data.resource_type} failed: ${data.message}`
        : null;
    case 'event':
      return data.message ?? null;
    default:
      return null;
  }
}

function hostState(data: Data): string {
  if (data.deleted) return 'removed';
  if (data.state !== 'ready') return data.state ?? '';
  if (!data.connected) return 'its agent has disconnected';
  if (data.trouble) return data.trouble;
  if (data.drift && data.drift.length > 0) return 'differs from what was accepted';
  return data.admin_state === 'active' ? 'ready' : (data.admin_state ?? '');
}

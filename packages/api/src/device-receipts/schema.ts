import { DEVICE_KINDS } from '@gantry/model/host-states';
import { z } from '@hono/zod-openapi';
import { Page, ReplyId, Timestamp } from '../http/fields.ts';

/** What its tenant sees: nothing of where the device sits. */
export const DeviceReceipt = z
  .object({
    id: ReplyId,
    kind: z.enum(DEVICE_KINDS),
    serial: z.string().openapi({ description: "The drive's serial number; empty for a GPU." }),
    vm_id: ReplyId.openapi({ description: 'The VM that had the device.' }),
    method: z.string().openapi({
      description:
        'How it was made clean: flr, bus, format_ses1, sanitize, overwrite; none: nobody could.',
    }),
    finished_at: Timestamp,
    failure_code: z.string().openapi({
      description: 'Why it could not be made clean; empty: it is clean and verified.',
    }),
    failure_message: z.string(),
  })
  .openapi('DeviceReceipt');
export const DeviceReceiptPage = Page(DeviceReceipt);

export const OperatorDeviceReceipt = DeviceReceipt.extend({
  device_id: ReplyId,
  host_id: ReplyId,
  pci_address: z.string(),
  project_id: ReplyId,
}).openapi('OperatorDeviceReceipt');
export const OperatorDeviceReceiptPage = Page(OperatorDeviceReceipt);

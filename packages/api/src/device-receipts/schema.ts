import { DEVICE_KINDS } from '@gantry/model/host-states';
import { z } from '@hono/zod-openapi';
import { Page, ReplyId, Timestamp } from '../http/fields.ts';

/** What a tenant sees of a receipt: not the position of the device in its host. */
const DeviceReceipt = z
  .object({
    id: ReplyId,
    kind: z.enum(DEVICE_KINDS),
    serial: z.string().openapi({ description: "The drive's serial number; empty for a GPU." }),
    vm_id: ReplyId.openapi({ description: 'The VM that had the device.' }),
    method: z.string().openapi({
      description:
        'How the device was cleaned: flr, bus, format_ses1, sanitize or overwrite; none if no ' +
        'way worked.',
    }),
    finished_at: Timestamp,
    failure_code: z.string().openapi({
      description: 'Why the device could not be cleaned; empty if it is clean and verified.',
    }),
    failure_message: z.string(),
  })
  .openapi('DeviceReceipt');
export const DeviceReceiptPage = Page(DeviceReceipt);

const OperatorDeviceReceipt = DeviceReceipt.extend({
  device_id: ReplyId,
  host_id: ReplyId,
  pci_address: z.string(),
  project_id: ReplyId,
}).openapi('OperatorDeviceReceipt');
export const OperatorDeviceReceiptPage = Page(OperatorDeviceReceipt);

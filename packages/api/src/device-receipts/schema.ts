import { DEVICE_KINDS } from '@gantry/model/host-states';
import { PROPERTY_STATES } from '@gantry/model/receipt-property';
import { z } from '@hono/zod-openapi';
import { Id, Page, ProjectParams, ReplyId, Timestamp } from '../http/fields.ts';

const ReceiptProperty = z
  .object({
    name: z.string().openapi({ description: 'Such as reset, identity, memory or data.' }),
    state: z.enum(PROPERTY_STATES),
    detail: z.string().openapi({ description: 'How it was verified, or why not; may be empty.' }),
  })
  .openapi('ReceiptProperty');

/** What a tenant sees of a receipt: not the position of the device in its host. */
export const DeviceReceipt = z
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
      description:
        'Why the device could not be cleaned; empty if every step of its cleaning succeeded.',
    }),
    failure_message: z.string(),
    properties: z.array(ReceiptProperty).openapi({
      description: 'What the cleaning proves. Empty for a receipt of an earlier version.',
    }),
  })
  .openapi('DeviceReceipt');
export const DeviceReceiptPage = Page(DeviceReceipt);
export const DeviceReceiptParams = ProjectParams.extend({ receipt_id: Id });

const OperatorDeviceReceipt = DeviceReceipt.extend({
  device_id: ReplyId,
  host_id: ReplyId,
  pci_address: z.string(),
  project_id: ReplyId,
}).openapi('OperatorDeviceReceipt');
export const OperatorDeviceReceiptPage = Page(OperatorDeviceReceipt);

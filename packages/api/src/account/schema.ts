import { z } from '@hono/zod-openapi';
import { MIN_PASSWORD } from '../auth/passwords.ts';
import { Text } from '../http/fields.ts';

/** A password that is chosen. Whether it is easy to guess depends on the user. */
export const NewPassword = Text(1024).min(
  MIN_PASSWORD,
  `must have at least ${MIN_PASSWORD} characters`,
);
/** A password or a code that is checked. */
const Given = Text(1024);

export const ChangePassword = z
  .strictObject({ current_password: Given, new_password: NewPassword, totp: Given.optional() })
  .openapi('ChangePassword');

export const StartTotp = z.strictObject({ password: Given }).openapi('StartTotp');

export const StartedTotp = z
  .object({
    secret: z.string().openapi({ description: 'In base32, for authenticator apps.' }),
    url: z.string().openapi({ description: 'The same as an otpauth URL, for a QR code.' }),
  })
  .openapi('StartedTotp');

export const ConfirmTotp = z.strictObject({ totp: Given }).openapi('ConfirmTotp');

export const ConfirmedTotp = z
  .object({
    recovery_codes: z.array(z.string()).openapi({
      description: 'Each replaces a code once. No other reply shows them.',
    }),
  })
  .openapi('ConfirmedTotp');

export const RemoveTotp = z.strictObject({ password: Given, totp: Given }).openapi('RemoveTotp');

export const TotpState = z
  .object({ enabled: z.boolean(), recovery_codes_left: z.int() })
  .openapi('TotpState');

import type { PaymentProblem } from '@gantry/db/queries/tenants/standing';

/** What a tenant reads about a problem with its payments. */
export const PROBLEM_REASONS: Record<PaymentProblem, string> = {
  payment_failed: 'an invoice could not be paid: check the payment method with the billing link',
  no_payment_method: 'the payment method was removed: enter another one with the billing link',
};

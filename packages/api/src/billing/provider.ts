/** Who takes the money. One of these serves the whole installation. */
export type BillingProvider = {
  /** A temporary link to a page where the organization enters a payment method. */
  createSession(organizationId: string): Promise<string>;
  /** Whether a payment method was entered meanwhile; asked when the database knows of none. */
  confirmPayment(organizationId: string): Promise<boolean>;
  /** The organization's id at the provider where that needs no call; empty until the provider made one. */
  customerIdFor(organizationId: string): string;
};

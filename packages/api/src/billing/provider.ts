/** Who takes the money. One of these serves the whole installation. */
export type BillingProvider = {
  /** A temporary link to a page where the organization enters a payment method. */
  createSession(organizationId: string): Promise<string>;
  /** Whether a payment method was entered meanwhile; asked when the database knows of none. */
  confirmPayment(organizationId: string): Promise<boolean>;
  /** The organization's id at the provider where that needs no call; empty until the provider made one. */
  customerIdFor(organizationId: string): string;
  /** What our own page behind the links needs; absent where the provider has a page of its own. */
  invoices?: InvoiceDesk;
};

export type InvoiceDesk = {
  /** The organization whose link this is, or undefined: not one of ours, or too old. */
  organizationOf(token: string): string | undefined;
  /** From here on the organization may use everything. */
  accept(entry: InvoiceEntry): Promise<void>;
};

export type InvoiceEntry = {
  organizationId: string;
  address: InvoiceAddress;
  now: Date;
  sourceIp: string;
  requestId: string;
};

/** Who is sent the invoices. */
export type InvoiceAddress = { holder: string; email: string };

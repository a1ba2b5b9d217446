/** Collects payments. An installation has one provider. */
export type BillingProvider = {
  /** Returns a temporary link to a page where the organization enters a payment method. */
  createSession(organizationId: string): Promise<string>;
  /** Asks the provider for a payment method; called if the database has none. */
  confirmPayment(organizationId: string): Promise<boolean>;
  /** Returns the organization's id at the provider, or '' if the provider assigns one later. */
  customerIdFor(organizationId: string): string;
  /** What our billing page needs; absent if the provider has its own page. */
  invoices?: InvoiceDesk;
};

export type InvoiceDesk = {
  /** Returns the organization of a link, or undefined if the link is forged or expired. */
  organizationOf(token: string): string | undefined;
  /** Stores the payment method. From then on the organization can use the whole API. */
  accept(entry: InvoiceEntry): Promise<void>;
};

export type InvoiceEntry = {
  organizationId: string;
  address: InvoiceAddress;
  now: Date;
  sourceIp: string;
  requestId: string;
};

/** Who receives the invoices. */
export type InvoiceAddress = { holder: string; email: string };

import type { Log } from '@gantry/daemon/log';

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
  /** Absent if the provider does not collect payments itself. */
  collection?: Collection;
};

export type Collection = {
  /** Sends usage that the provider has not confirmed yet. */
  sendUsage(log: Log): Promise<void>;
  /** Asks the provider whether the organization can pay and has paid, and records it. */
  refresh(organizationId: string): Promise<void>;
  /** Absent if the installation has no secret for webhooks. */
  webhook?: Webhook;
};

export type Webhook = {
  /**
   * Verifies and handles a request of the provider. The body must be unchanged, because the
   * signature is about its bytes. Throws bad_request if the signature is wrong or too old.
   */
  accept(request: { body: string; signature: string | undefined }): Promise<void>;
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

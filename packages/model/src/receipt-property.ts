/** What a receipt says about one property of a device after its cleaning. */
export const PROPERTY_STATES = ['verified', 'not_verified', 'not_applicable'] as const;
export type PropertyState = (typeof PROPERTY_STATES)[number];

/** The name is in snake_case, such as memory. The detail is for people and may be empty. */
export type ReceiptProperty = { name: string; state: PropertyState; detail: string };

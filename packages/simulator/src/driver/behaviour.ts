/** How a simulated host behaves; may be changed while it runs. Zero: at once, without a timer. */
export type Behaviour = {
  /** From the order to start until the domain runs. */
  bootMs: number;
  /** From the request to shut down until the guest has ended; null: it ignores requests. */
  shutdownMs: number | null;
  /** To make a disk from an image. */
  copyMs: number;
  /** To reset a GPU. */
  resetMs: number;
  /** To erase a drive. */
  eraseMs: number;
};

export const INSTANT: Behaviour = { bootMs: 0, shutdownMs: 0, copyMs: 0, resetMs: 0, eraseMs: 0 };

/** What a level-1 machine boots from. The files are never changed. */
export type LabImage = {
  root: string;
  /** Arguments that the initramfs needs. */
  kernelArguments: string;
} & (
  | { kernel: string; initramfs: string }
  /** An EFI program that loads /vmlinuz and /initrd.img from the root, as the machine left them. */
  | { bootLoader: string }
);

import type { ReactNode } from 'react';

/** The icons are drawn on a grid of 16 and repeat what a text beside them, or their label, says. */
export function Icon({ children }: { children: ReactNode }) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 16 16"
      className="size-4 shrink-0"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {children}
    </svg>
  );
}

export const CopyIcon = () => (
  <Icon>
    <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
    <path d="M3.5 10.5h-1v-8h8v1" />
  </Icon>
);
export const CheckIcon = () => (
  <Icon>
    <path d="m3 8.5 3.5 3.5L13 5" />
  </Icon>
);
export const MenuIcon = () => (
  <Icon>
    <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />
  </Icon>
);
export const CloseIcon = () => (
  <Icon>
    <path d="m4 4 8 8M12 4l-8 8" />
  </Icon>
);
export const ChevronIcon = () => (
  <Icon>
    <path d="m5 6.5 3 3 3-3" />
  </Icon>
);
export const MoreIcon = () => (
  <Icon>
    <path d="M3.5 8h.01M8 8h.01M12.5 8h.01" strokeWidth="2.2" />
  </Icon>
);
export const ServerIcon = () => (
  <Icon>
    <rect x="2.5" y="2.5" width="11" height="4.5" rx="1" />
    <rect x="2.5" y="9" width="11" height="4.5" rx="1" />
    <path d="M5 4.75h.01M5 11.25h.01" />
  </Icon>
);
export const DiskIcon = () => (
  <Icon>
    <ellipse cx="8" cy="4" rx="5.5" ry="2" />
    <path d="M2.5 4v8c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2V4M2.5 8c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2" />
  </Icon>
);
export const HostIcon = () => (
  <Icon>
    <rect x="4" y="4" width="8" height="8" rx="1" />
    <path d="M6.5 1.5V4M9.5 1.5V4M6.5 12v2.5M9.5 12v2.5M1.5 6.5H4M1.5 9.5H4M12 6.5h2.5M12 9.5h2.5" />
  </Icon>
);
export const NetworkIcon = () => (
  <Icon>
    <circle cx="8" cy="3.5" r="1.8" />
    <circle cx="3.5" cy="12.5" r="1.8" />
    <circle cx="12.5" cy="12.5" r="1.8" />
    <path d="M8 5.3V8M3.5 10.7V8h9v2.7" />
  </Icon>
);
export const ChartIcon = () => (
  <Icon>
    <path d="M2.5 13.5h11M4.5 11V8M8 11V3.5M11.5 11V6" />
  </Icon>
);
export const KeyIcon = () => (
  <Icon>
    <circle cx="5" cy="11" r="2.5" />
    <path d="m7 9 6-6M11 5l1.8 1.8" />
  </Icon>
);

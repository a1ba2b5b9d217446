/** The same drawing as the icon of the browser's tab. */
export function Logo() {
  return (
    <span className="inline-flex items-center gap-2 font-semibold tracking-tight">
      <svg aria-hidden="true" viewBox="0 0 32 32" className="size-5">
        <rect width="32" height="32" rx="7" fill="#2f5bd7" />
        <path
          d="M7 24V9h18v15M7 14h18M16 14v6"
          fill="none"
          stroke="#fff"
          strokeWidth="2.6"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
        <rect x="13" y="19.5" width="6" height="5" rx="1" fill="#fff" />
      </svg>
      Gantry
    </span>
  );
}

import { Icon } from './icons.tsx';

export const OverviewIcon = () => (
  <Icon>
    <path d="M2.5 13.5v-4h3v4zM6.5 13.5v-7h3v7zM10.5 13.5v-11h3v11z" />
  </Icon>
);
export const MapIcon = () => (
  <Icon>
    <path d="M2.5 2.5h4v4h-4zM9.5 2.5h4v4h-4zM2.5 9.5h4v4h-4zM9.5 9.5h4v4h-4z" />
  </Icon>
);
export const QuestionIcon = () => (
  <Icon>
    <circle cx="8" cy="8" r="5.75" />
    <path d="M6.25 6.25a1.75 1.75 0 1 1 2.4 1.6c-.45.2-.65.5-.65 1.05M8 11h.01" />
  </Icon>
);
export const PlusIcon = () => (
  <Icon>
    <path d="M8 3v10M3 8h10" />
  </Icon>
);
export const OfficeIcon = () => (
  <Icon>
    <path d="M3.5 13.5v-11h6v11M9.5 6.5h3v7M2 13.5h12M5.5 5.25h2M5.5 8h2M5.5 10.75h2" />
  </Icon>
);
export const PersonIcon = () => (
  <Icon>
    <circle cx="8" cy="5" r="2.5" />
    <path d="M3 13.5c.4-2.8 2.3-4.5 5-4.5s4.6 1.7 5 4.5" />
  </Icon>
);
export const TagIcon = () => (
  <Icon>
    <path d="M2.5 2.5h5l6 6-5 5-6-6zM5.25 5.25h.01" />
  </Icon>
);
export const ListIcon = () => (
  <Icon>
    <path d="M6 4h7.5M6 8h7.5M6 12h7.5M3 4h.01M3 8h.01M3 12h.01" />
  </Icon>
);
export const RolloutIcon = () => (
  <Icon>
    <path d="M8 13.5v-9M4.5 8 8 4.5 11.5 8M3 2.5h10" />
  </Icon>
);

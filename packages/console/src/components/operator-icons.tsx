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

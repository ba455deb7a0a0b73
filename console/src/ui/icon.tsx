/**
 * The icons of the console: lines in a square of 16, in the colour of the text beside them.
 */
const PATHS = {
  tree: 'M3 3h3v3H3zM10 7h3v3h-3zM10 12h3v2h-3zM4.5 6v7H10M4.5 8.5H10',
  lock: 'M4 7.5h8v6H4zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  people:
    'M6 7.5A2.25 2.25 0 1 0 6 3a2.25 2.25 0 0 0 0 4.5zM2 13c.3-2.4 1.9-3.5 4-3.5s3.7 1.1 4 3.5M11 3.2a2.2 2.2 0 0 1 0 4.1M12 9.8c1.2.5 1.9 1.6 2 3.2',
  ring: 'M8 2.5v2M8 11.5v2M2.5 8h2M11.5 8h2M8 11.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z',
  pulse: 'M1.5 8.5h3l2-5 3 9 2-4h3',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5l3.5 3.5',
  sun: 'M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6zM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z',
  half: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM8 2.5v11',
  user: 'M8 7.5A2.5 2.5 0 1 0 8 2.5a2.5 2.5 0 0 0 0 5zM3 13.5c.4-2.7 2.3-4 5-4s4.6 1.3 5 4',
  help: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM6.3 6.4c.2-1 .9-1.5 1.8-1.5 1 0 1.7.6 1.7 1.5 0 1.2-1.7 1.3-1.7 2.5M8 11v.1',
  close: 'M4 4l8 8M12 4l-8 8',
  right: 'M6 4l4 4-4 4',
  down: 'M4 6l4 4 4-4',
  plus: 'M8 3v10M3 8h10',
  trash: 'M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.6 9h5.8l.6-9',
  pencil: 'M3 13l.6-2.7 7-7 2.1 2.1-7 7z',
  copy: 'M5.5 5.5h7v7.5h-7zM10.5 5.5V3h-7v7.5h2',
  move: 'M2.5 8h10M9.5 5l3 3-3 3',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8zM8 9.8a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z',
  shield: 'M8 2l5 1.8v3.7c0 3-2 5.2-5 6.5-3-1.3-5-3.5-5-6.5V3.8z',
  download: 'M8 2.5v7.5M5 7.5l3 3 3-3M3 13h10',
  upload: 'M8 10.5V3M5 5.5l3-3 3 3M3 13h10',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.6L13 6M13 2.8V6H9.8',
  star: 'M8 2.3l1.7 3.6 4 .5-2.9 2.7.7 3.9L8 11.1 4.5 13l.7-3.9-2.9-2.7 4-.5z',
  clock: 'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM8 5v3.2l2 1.3',
  warning: 'M8 2.5l6 10.5H2zM8 6.5v3M8 11.3v.1',
  check: 'M3 8.5l3.2 3L13 4.5',
  stop: 'M4 4h8v8H4z',
  folder: 'M2 4.5h4l1.5 1.5H14v7H2z',
  file: 'M4 2.5h5.5L12.5 5.5v8H4zM9.5 2.5v3h3',
  bolt: 'M9 2L4 9h4l-1 5 5-7H8z',
  box: 'M2.5 5L8 2.5 13.5 5v6L8 13.5 2.5 11zM2.5 5L8 7.5 13.5 5M8 7.5v6',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

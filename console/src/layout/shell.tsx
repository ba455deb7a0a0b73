/**
 * What is around every page: the navigation, who one is, the theme, and the page itself.
 */
import { lazy, Suspense, useState } from 'react';
import { useConsole } from '../console-context.js';
import { KeyboardHelp } from '../keyboard/help.js';
import { useShortcuts } from '../keyboard/use-shortcuts.js';
import { type ConsolePage, FIRST_PAGE, PAGES } from '../pages/registry.js';
import { hrefOf } from '../router/route.js';
import { goTo, useRoute } from '../router/use-route.js';
import { applyTheme, nextTheme, storedTheme, type Theme } from '../theme/theme.js';
import { Icon, type IconName } from '../ui/icon.js';
import { ErrorBoundary } from './error-boundary.js';
import { WhoAmI } from './who-am-i.js';

/** Made once: React would load a page anew if its component changed. */
const COMPONENTS = new Map(
  PAGES.map((page) => [page.id, lazy(async () => ({ default: (await page.load()).Page }))]),
);

export function Shell() {
  const { can } = useConsole();
  const route = useRoute();
  const [isHelpOpen, setIsHelpOpen] = useState(false);
  const offered = PAGES.filter(({ needs }) => can('GET', needs));
  const page = route.page === '' ? FIRST_PAGE : route.page;
  const Component = COMPONENTS.get(page);
  const isOffered = offered.some(({ id }) => id === page);
  useShortcuts([
    ...offered.map(({ key, title, id }) => ({
      keys: `g ${key}`,
      title,
      group: 'Go to',
      run: () => goTo(id),
    })),
    { keys: '?', title: 'Show these keys', group: 'Help', run: () => setIsHelpOpen(true) },
  ]);
  return (
    <div className="shell">
      <button type="button" className="skip" onClick={focusContent}>
        Skip to the content
      </button>
      <Navigation pages={offered} current={page} onHelp={() => setIsHelpOpen(true)} />
      <main id="content" className="content" tabIndex={-1}>
        <ErrorBoundary key={page}>
          <Suspense fallback={<output className="asking">Loading …</output>}>
            {Component !== undefined && isOffered ? <Component /> : <NoPage />}
          </Suspense>
        </ErrorBoundary>
      </main>
      {isHelpOpen ? <KeyboardHelp onClose={() => setIsHelpOpen(false)} /> : null}
    </div>
  );
}

/** No link can lead there: the hash is the route. */
function focusContent(): void {
  document.getElementById('content')?.focus();
}

interface NavigationProps {
  readonly pages: readonly ConsolePage[];
  readonly current: string;
  readonly onHelp: () => void;
}

function Navigation({ pages, current, onHelp }: NavigationProps) {
  const { index } = useConsole();
  return (
    <nav className="bar" aria-label="Pages">
      <a className="bar-brand" href={hrefOf(FIRST_PAGE)}>
        <img src="./icon.svg" alt="" width="20" height="20" />
        <span>Rookery</span>
      </a>
      {pages.map(({ id, title, icon }) => (
        <a
          key={id}
          className="bar-link"
          href={hrefOf(id)}
          aria-current={id === current ? 'page' : undefined}
        >
          <Icon name={icon} />
          <span>{title}</span>
        </a>
      ))}
      <span className="bar-gap" />
      {index.readOnly ? (
        <span className="badge badge-warn" title="This port is for reading only.">
          <Icon name="eye" /> Read-only
        </span>
      ) : null}
      <WhoAmI />
      <ThemeButton />
      <button
        type="button"
        className="button button-quiet button-icon"
        aria-label="Keyboard"
        title="Keyboard (?)"
        onClick={onHelp}
      >
        <Icon name="help" />
      </button>
    </nav>
  );
}

const THEME_ICONS: Readonly<Record<Theme, IconName>> = {
  system: 'half',
  light: 'sun',
  dark: 'moon',
};

function ThemeButton() {
  const [theme, setTheme] = useState(storedTheme);
  const label = `Theme: ${theme}`;
  return (
    <button
      type="button"
      className="button button-quiet button-icon"
      aria-label={label}
      title={label}
      onClick={() => {
        const next = nextTheme(theme);
        applyTheme(next);
        setTheme(next);
      }}
    >
      <Icon name={THEME_ICONS[theme]} />
    </button>
  );
}

function NoPage() {
  return (
    <div className="empty">
      <p>This server has no such page.</p>
      <a href={hrefOf(FIRST_PAGE)}>Go to the explorer</a>
    </div>
  );
}

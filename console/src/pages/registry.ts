/**
 * The pages of the console, in the order of the navigation. Whoever adds a page adds a line here;
 * its code is loaded when somebody opens it.
 *
 * A page is offered only where the API has the path that it needs: ZooKeeper cannot tell
 * everything, and neither can `rookery console` in front of it.
 */
import type { ComponentType } from 'react';
import type { IconName } from '../ui/icon.js';

export interface ConsolePage {
  /** The first segment of its route, as in `#/sessions`. */
  readonly id: string;
  readonly title: string;
  readonly icon: IconName;
  /** `g` and this key lead to it. */
  readonly key: string;
  /** The path below `/api/v1` without which the page has nothing to show. */
  readonly needs: string;
  readonly load: () => Promise<{ readonly Page: ComponentType }>;
}

export const PAGES: readonly ConsolePage[] = [
  {
    id: 'node',
    title: 'Explorer',
    icon: 'tree',
    key: 'x',
    needs: '/node',
    load: () => import('../explorer/explorer-page.js'),
  },
  {
    id: 'recipes',
    title: 'Recipes',
    icon: 'lock',
    key: 'r',
    needs: '/recipes',
    load: () => import('../recipes/recipes-page.js'),
  },
  {
    id: 'sessions',
    title: 'Sessions',
    icon: 'people',
    key: 's',
    needs: '/sessions',
    load: () => import('../sessions/sessions-page.js'),
  },
  {
    id: 'ensemble',
    title: 'Ensemble',
    icon: 'ring',
    key: 'm',
    needs: '/members',
    load: () => import('../ensemble/ensemble-page.js'),
  },
  {
    id: 'events',
    title: 'Events',
    icon: 'pulse',
    key: 'e',
    needs: '/events',
    load: () => import('../events/events-page.js'),
  },
];

export const FIRST_PAGE = 'node';

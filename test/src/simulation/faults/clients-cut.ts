/** Clients and members do not receive each other, or only one the other; nobody is told. */
import type { FaultKind } from '../contract/fault.js';
import { clientLinksOf } from './client-links.js';

export const clientsCut: FaultKind = {
  name: 'clients-cut',
  begin: (world, fault) => {
    const links = clientLinksOf(world, fault);
    links.cut();
    return () => links.heal();
  },
};

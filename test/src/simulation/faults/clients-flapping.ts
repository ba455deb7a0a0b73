/** The links of clients are cut and healed about as fast as sessions notice it. */
import type { FaultKind } from '../contract/fault.js';
import { clientLinksOf } from './client-links.js';
import { between, roll } from './dice.js';

export const clientsFlapping: FaultKind = {
  name: 'clients-flapping',
  begin: (world, fault, stage) => {
    const links = clientLinksOf(world, fault);
    const cutForMs = between(5, 3000, roll(fault, 5) ** 2);
    const healedForMs = between(5, 1500, roll(fault, 7) ** 2);
    let isOver = false;
    const cut = () => {
      if (isOver) return;
      links.cut();
      stage.later(cutForMs, heal);
    };
    const heal = () => {
      if (isOver) return;
      links.heal();
      stage.later(healedForMs, cut);
    };
    cut();
    return () => {
      isOver = true;
      links.heal();
    };
  },
};

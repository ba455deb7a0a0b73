/**
 * The client library itself: what @rookery/client costs the process that uses it.
 *
 * It is measured in a process of its own, against whatever server is the system under test.
 */
import { measurement, type Scenario, scenario } from './scenario.js';

export const clientScenarios: readonly Scenario[] = [
  scenario({
    name: 'client',
    title: 'the client library: getData pipelined, and watches that stand',
    group: 'client',
    figures: [
      { key: 'callUs', title: 'CPU a call, all at once', unit: 'us', better: 'lower' },
      { key: 'windowedCallUs', title: 'CPU a call, 1000 at a time', unit: 'us', better: 'lower' },
      { key: 'watchBytes', title: 'heap per watch', unit: 'B', better: 'lower' },
    ],
    secondsAbout: () => 6,
    run: async (context) => {
      const { clientCalls, clientWatches } = context.settings.sizes;
      const cost = await context.agent().call('clientCost', {
        connectString: context.connectString,
        calls: clientCalls,
        watches: clientWatches,
        valueBytes: 100,
      });
      return measurement({ ...cost });
    },
  }),
];

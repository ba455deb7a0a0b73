/**
 * Tests what does not depend on the machine; and that the trial leaves no namespace behind, on a
 * machine that can make them.
 */
import { existsSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isDead, Layout, runNameOf, runOfNamespace } from './namespaces.js';
import { weatherCommands } from './network.js';
import { supported } from './supported.js';

it('a run is dead when its process is gone or another one has its id', () => {
  const run = runNameOf(process.pid);
  expect(isDead(run)).toBe(false);
  expect(isDead(`${process.pid}-1`)).toBe(true);
  // This is larger than any process id of Linux.
  expect(isDead('4194305-17')).toBe(true);
});

it('only namespaces of ours are known as ours', () => {
  const layout = new Layout('12-34', 3);
  for (const host of layout.hosts) expect(runOfNamespace(layout.namespace(host))).toBe('12-34');
  expect(runOfNamespace(layout.router)).toBe('12-34');
  for (const other of ['rkchaos', 'rkchaos-12-34', 'rkchaos-12-34-web', 'docker-1', 'x-12-34-1']) {
    expect(runOfNamespace(other), other).toBeNull();
  }
});

it('each host has an address and a gateway of its own', () => {
  const layout = new Layout('1-1', 5);
  const addresses = layout.hosts.flatMap((host) => [layout.address(host), layout.gateway(host)]);
  expect(new Set(addresses).size).toBe(12);
});

it('weather without loss throws no dice, with netem or without', () => {
  const weather = { lossPercent: 0, delayMs: 50, rateKbit: 100 };
  expect(weatherCommands('to-1', weather, 'bpf').flat()).not.toContain('filter');
  expect(weatherCommands('to-1', weather, 'netem').flat()).not.toContain('loss');
});

it('the trial says why a run is impossible, and leaves nothing behind', async () => {
  const support = await supported();
  if (support.kind === 'impossible') expect(support.reason).not.toBe('');
  const names = existsSync('/run/netns') ? readdirSync('/run/netns') : [];
  expect(names.filter((name) => runOfNamespace(name) === runNameOf(process.pid))).toEqual([]);
});

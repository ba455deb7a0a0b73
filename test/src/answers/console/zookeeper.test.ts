/**
 * The explorer in front of Apache ZooKeeper 3.8.0, by `rookery console`, which needs no Rookery
 * server: the tree, an edit, a new znode, search, changes as they happen.
 */
import { expect, it } from 'vitest';
import { lacksBrowser, screenshot, useBrowser } from '../../harness/browser.js';
import { useServingEnsemble } from '../../harness/ensemble.js';
import { mayLack } from '../../harness/foreign.js';
import { useGateway } from '../../harness/gateway.js';
import { create, getData } from '../../harness/operations.js';
import { productNamed } from '../../harness/product.js';
import { useClient } from '../../harness/use-client.js';

const TEST_DEADLINE_MS = 120_000;
const ZOOKEEPER = '/usr/share/java/zookeeper.jar';

const open = useBrowser();

it.skipIf(lacksBrowser || mayLack(ZOOKEEPER))(
  'explores Apache ZooKeeper',
  async () => {
    const ensemble = await useServingEnsemble({ size: 1, product: productNamed('apache') });
    const zk = await useClient(ensemble.member(1));
    await create(zk, '/app');
    await create(zk, '/app/config', '{"replicas":3}');
    const { address } = await useGateway(ensemble.ports);
    const page = await open(`${address}#/node?path=/app/config`);
    await page.getByText('"replicas"').waitFor();
    await page.getByRole('treeitem', { name: 'config' }).waitFor();
    await page.keyboard.press('e');
    await page.getByText('from version 0').waitFor();
    await page.getByRole('textbox', { name: 'Data' }).waitFor();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Delete');
    await page.keyboard.insertText('{"replicas":5}');
    await page.keyboard.press('Control+s');
    await page.getByText('what you are about to write').waitFor();
    await page.keyboard.press('Control+s');
    await page.getByRole('button', { name: 'Edit' }).waitFor();
    expect((await getData(zk, '/app/config')).data).toBe('{"replicas":5}');
    await page.keyboard.press('u');
    await page.getByRole('heading', { name: 'app', exact: true }).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await create(zk, '/app/made-elsewhere');
    await page.getByRole('treeitem', { name: 'made-elsewhere' }).waitFor();
    await page.getByRole('searchbox').fill('config in:/app');
    await page.getByText('1 znode in all').waitFor();
    await screenshot(page, 'zookeeper');
  },
  TEST_DEADLINE_MS,
);

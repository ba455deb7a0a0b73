/**
 * The documentation as a site, from the same Markdown files that are read in the repository: the
 * README of each package and all of docs/. It needs no network when it is built or read: search
 * and fonts are inside. `npm run docs:site` builds it into docs/site.
 *
 * Pages keep their places, but a README is the index of its folder. A link to a file that is no
 * page, such as a source, is text on the site. A broken link fails the build.
 */
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';

const docs = dirname(dirname(fileURLToPath(import.meta.url)));

/** The pages of a folder by the titles of their first lines, its README first. */
function pagesOf(folder) {
  const names = readdirSync(join(docs, folder)).filter((name) => name.endsWith('.md'));
  const isReadme = (name) => Number(name !== 'README.md');
  return names
    .toSorted((a, b) => isReadme(a) - isReadme(b) || (a < b ? -1 : 1))
    .map((name) => ({
      text: readFileSync(join(docs, folder, name), 'utf8').split('\n')[0].replace(/^# /, ''),
      link: `/docs/${folder}/${name === 'README.md' ? '' : name.replace(/\.md$/, '')}`,
    }));
}

/** The pages of a folder in the order in which its README links to them. */
function linkedPagesOf(folder) {
  const pages = pagesOf(folder);
  const readme = readFileSync(join(docs, folder, 'README.md'), 'utf8');
  const rank = ({ link }) => readme.indexOf(`](${link.split('/').at(-1)}.md)`);
  const [index, ...others] = pages;
  return [index, ...others.toSorted((a, b) => rank(a) - rank(b))];
}

const client = [
  {
    text: 'Client library',
    items: [
      { text: 'Start', link: '/docs/client/start' },
      { text: 'Guide', link: '/docs/client/' },
      { text: 'Sessions and their states', link: '/docs/client/sessions' },
      { text: 'Errors', link: '/docs/client/errors' },
      { text: 'Pitfalls and questions', link: '/docs/client/pitfalls' },
      { text: 'Options and tables', link: '/client/' },
      { text: 'API', link: '/api/index.html', target: '_self' },
      { text: 'Changes', link: '/client/CHANGELOG' },
    ],
  },
  { text: 'Recipes', items: pagesOf('client/recipes') },
  { text: 'Coming from', items: pagesOf('client/migration') },
];

const operations = [
  { text: 'Operations', items: linkedPagesOf('operations') },
  {
    text: 'Reference',
    items: [
      { text: 'Configuration', link: '/docs/configuration' },
      { text: 'Limits', link: '/docs/limits' },
      { text: 'Compatibility with ZooKeeper', link: '/docs/compatibility' },
    ],
  },
];

/** Links that lead to no page lose their target; what they say stays. */
function withoutSources(markdown) {
  const render = markdown.renderer.rules.link_open;
  markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const href = tokens[index].attrGet('href') ?? '';
    const isPage = /^(?:[a-z]+:|#|\/)/.test(href) || /\.md(?:#.*)?$/.test(href);
    if (!isPage) tokens[index].attrs = [];
    return isPage && render !== undefined
      ? render(tokens, index, options, env, self)
      : self.renderToken(tokens, index, options);
  };
}

/** What `npm run docs` has made of the sources' comments, if it was run. */
function addApi(outDir) {
  const api = join(docs, 'api');
  if (existsSync(api)) cpSync(api, join(outDir, 'api'), { recursive: true });
}

export default defineConfig({
  title: 'Rookery',
  description: 'A coordination service that speaks ZooKeeper’s protocol, and its client library',
  srcDir: '..',
  outDir: 'site',
  cacheDir: '.vitepress/cache',
  srcExclude: ['{test,scripts,ops}/**', '**/{dist,.work,api,site,out}/**'],
  rewrites: (page) => page.replace(/(^|\/)README\.md$/, '$1index.md'),
  lastUpdated: false,
  buildEnd: ({ outDir }) => addApi(outDir),
  markdown: { config: withoutSources },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Client library', link: '/docs/client/start' },
      { text: 'Operations', link: '/docs/operations/' },
      { text: 'Architecture', link: '/ARCHITECTURE' },
    ],
    sidebar: {
      '/docs/client/': client,
      '/client/': client,
      '/docs/architecture/': [{ text: 'Architecture', items: pagesOf('architecture') }],
      '/docs/': operations,
    },
  },
});

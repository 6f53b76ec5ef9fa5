import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { readPages, root, sidebarOf } from '../src/pages.mjs'

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const repository = manifest.repository.url.replace(/^git\+/, '').replace(/\.git$/, '')
const base = process.env.SLUICE_SITE_BASE ?? new URL(manifest.homepage).pathname
const description = 'The Kubernetes client-go work queue for TypeScript, made durable.'

/** The anchors of GitHub, which links between the documents use. */
function slug(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replace(/ /g, '-')
}

/** What the search knows of a page: all of a document, and of the reference the names alone. */
function searched(text, env, markdown) {
  const html = markdown.render(text, env)
  if (env.frontmatter?.search === false) return ''
  if (!env.relativePath.startsWith('api/')) return html
  const [title = ''] = /<h1[\s\S]*?<\/h1>/.exec(html) ?? []
  const [summary = `<p>${title.replace(/<[^>]*>/g, '')}</p>`] = /<p>[\s\S]*?<\/p>/.exec(html) ?? []
  return title + summary
}

/** One for the documents, and one each for the many decisions and the reference. */
function sidebars() {
  const groups = sidebarOf(readPages())
  const decisions = groups.find(({ text }) => text === 'Decisions')
  const isOverview = ({ link }) => link === '/decisions/'
  const names = readdirSync(join(root, 'packages'))
    .map((folder) =>
      JSON.parse(readFileSync(join(root, 'packages', folder, 'package.json'), 'utf8')),
    )
    .filter((package_) => package_.private !== true)
    .map(({ name }) => name)
    .sort()
  const shown = groups.map((group) =>
    group === decisions ? { ...group, items: group.items.filter(isOverview) } : group,
  )
  const [{ items: first }] = shown
  first.splice(1, 0, { text: 'Playground', link: '/playground' })
  return {
    '/': shown,
    '/decisions/': [{ ...decisions, items: [...decisions.items].sort(byLink) }],
    '/api/': [
      { text: 'Reference', items: names.map((name) => ({ text: name, link: `/api/${name}/` })) },
    ],
  }
}

const byLink = (a, b) => (a.link < b.link ? -1 : 1)

export default defineConfig({
  base,
  title: 'Sluice',
  description,
  srcDir: '.cache/pages',
  outDir: 'dist',
  cacheDir: '.cache/vitepress',
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  lang: 'en',
  sitemap: { hostname: manifest.homepage },
  metaChunk: true,
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: `${base}mark.svg` }],
    ['meta', { property: 'og:title', content: 'Sluice' }],
    ['meta', { property: 'og:description', content: description }],
  ],
  // Each page is also there as the Markdown that it was made from.
  transformHead: ({ page }) => [
    [
      'link',
      { rel: 'alternate', type: 'text/markdown', href: `${base}${page.replace(/\\/g, '/')}` },
    ],
  ],
  markdown: {
    anchor: { slugify: slug },
    toc: { slugify: slug },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    languageAlias: { promql: 'sql' },
  },
  themeConfig: {
    logo: '/mark.svg',
    siteTitle: 'Sluice',
    nav: [
      { text: 'Introduction', link: '/introduction' },
      { text: 'Playground', link: '/playground' },
      { text: 'Promises', link: '/reference/conformance' },
      { text: 'Reference', link: '/api/' },
    ],
    sidebar: sidebars(),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        _render: searched,
      },
    },
    socialLinks: [{ icon: 'github', link: repository, ariaLabel: 'The repository' }],
    editLink: {
      pattern: ({ frontmatter }) => frontmatter.editLink,
      text: 'Edit this page',
    },
    footer: { message: 'Apache-2.0' },
  },
  vite: {
    resolve: {
      conditions: ['sluice-source'],
    },
    ssr: { noExternal: [/^@?sluice/] },
    build: { target: 'es2022', chunkSizeWarningLimit: 2_000 },
    esbuild: { target: 'es2022' },
    server: { fs: { allow: [root] } },
  },
})

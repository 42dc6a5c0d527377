// Makes a static site of README.md, ARCHITECTURE.md, CHANGELOG.md, CONTRIBUTING.md and docs/. Usage: node scripts/site.mjs [folder] [sources]; dist/site by default.
// The site asks nothing of any other server and runs no script. A link that leads nowhere ends the program with code 1.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Marked } from 'marked'

const root = path.resolve(process.argv[3] ?? path.join(import.meta.dirname, '..'))
const folder = path.resolve(process.argv[2] ?? path.join(root, 'dist/site'))

const markdownIn = (directory) =>
  readdirSync(path.join(root, directory), { recursive: true })
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.join(directory, file))
    .sort()
const sources = ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', ...markdownIn('docs')]
const isPicture = (file) => /\.(png|svg)$/.test(file)
const pictures = readdirSync(path.join(root, 'docs'), { recursive: true })
  .filter(isPicture)
  .map((file) => path.join('docs', file))

/** Where a page of Markdown goes: README.md is the first page of its folder. */
const parseTarget = (source) =>
  path.basename(source) === 'README.md' ? path.join(path.dirname(source), 'index.html') : source.replace(/\.md$/, '.html')

/** The parts of the menu: what a stranger reads first comes first. */
const menu = [
  ['Start', ['README.md', 'docs/connecting-a-marketplace.md', 'docs/settings.md', 'docs/sandbox.md']],
  [
    'Running',
    [
      'docs/operations.md',
      'docs/deployment.md',
      'docs/backup.md',
      'docs/runbooks.md',
      'docs/alarms.md',
      'docs/alarm-channels.md',
      'docs/metrics.md',
      'docs/console.md',
    ],
  ],
  ['Your ERP', ['docs/events.md', 'docs/changes.md', 'docs/webhooks.md', 'docs/interface.md', 'docs/mcp.md', 'docs/keys.md']],
  ['Data', ['docs/syncs.md', 'docs/completeness.md', 'docs/data-model.md', 'docs/bi.md', 'docs/personal-data.md']],
]
const inMenu = new Set(menu.flatMap(([, pages]) => pages))
const isDecision = (source) => source.startsWith('docs/decisions/') && !source.endsWith('README.md')
const parts = [...menu, ['More', sources.filter((source) => !inMenu.has(source) && !isDecision(source))]]

const escaped = (text) => text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign])
const plain = (html) =>
  html
    .replace(/<[^>]+>/g, '')
    .replace(
      /&(amp|lt|gt|quot|#39);/g,
      (entity) => ({ '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" })[entity],
    )
/** The anchor of a heading, as on GitHub. */
const buildSlug = (text) =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
    .replaceAll(' ', '-')

const faults = []

/** A page of Markdown as HTML, with the anchors of its headings. */
const convert = (source) => {
  const anchors = new Map()
  let title = null
  const links = []
  const relative = (href) => {
    if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return href
    const [file = '', anchor] = href.split('#')
    const to = file === '' ? source : path.normalize(path.join(path.dirname(source), file))
    const page = sources.includes(to) ? to : sources.includes(path.join(to, 'README.md')) ? path.join(to, 'README.md') : null
    links.push({ to: page ?? to, anchor, href })
    if (page === null) return href
    const way = file === '' ? '' : path.relative(path.dirname(parseTarget(source)), parseTarget(page))
    return `${way}${anchor === undefined ? '' : `#${anchor}`}`
  }
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const html = this.parser.parseInline(tokens)
        const text = plain(html)
        title ??= text
        const slug = buildSlug(text)
        const times = anchors.get(slug) ?? 0
        anchors.set(slug, times + 1)
        const id = times === 0 ? slug : `${slug}-${times}`
        anchors.set(id, anchors.get(id) ?? 1)
        return `<h${depth} id="${escaped(id)}">${html}</h${depth}>\n`
      },
      link({ href, tokens }) {
        return `<a href="${escaped(relative(href))}">${this.parser.parseInline(tokens)}</a>`
      },
      image({ href, text }) {
        return `<img src="${escaped(relative(href))}" alt="${escaped(text)}">`
      },
      table(token) {
        const row = (cells, tag) =>
          `<tr>${cells.map((cell) => `<${tag}>${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`
        const body = token.rows.map((cells) => row(cells, 'td')).join('\n')
        return `<div class="wide" tabindex="0"><table><thead>${row(token.header, 'th')}</thead><tbody>${body}</tbody></table></div>\n`
      },
      // Pages contain Markdown only; what looks like HTML is a comment, or a mistake.
      html({ text }) {
        return text.startsWith('<!--') ? '' : escaped(text)
      },
    },
  })
  const html = marked.parse(readFileSync(path.join(root, source), 'utf8'))
  return { source, title: title ?? source, html, anchors, links }
}

const pages = sources.map(convert)
const buildPage = new Map(pages.map((page) => [page.source, page]))
for (const { source, links } of pages)
  for (const { to, anchor, href } of links) {
    const page = buildPage.get(to)
    if (page === undefined ? !pictures.includes(to) : anchor !== undefined && !page.anchors.has(anchor))
      faults.push(`${source}: ${href} leads nowhere`)
  }

const navigation = (source) => {
  const item = (page) => {
    const href = path.relative(path.dirname(parseTarget(source)), parseTarget(page))
    return `<li><a href="${escaped(href)}"${page === source ? ' aria-current="page"' : ''}>${escaped(buildPage.get(page).title)}</a></li>`
  }
  return parts.map(([name, own]) => `<h2>${name}</h2><ul>${own.map(item).join('')}</ul>`).join('\n')
}

const layout = ({ source, title, html }) => {
  const up = path.relative(path.dirname(parseTarget(source)), '.')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'self'; img-src 'self'">
<title>${escaped(source === 'README.md' ? title : `${title} · Tallyman`)}</title>
<link rel="stylesheet" href="${path.join(up, 'style.css')}">
</head>
<body>
<nav aria-label="Pages">
${navigation(source)}
</nav>
<main>
${html}</main>
</body>
</html>
`
}

const style = `:root { color-scheme: light dark; --line: light-dark(#d0d7de, #3d444d); --soft: light-dark(#f6f8fa, #161b22); }
body { margin: 0; display: flex; font: 16px/1.55 system-ui, sans-serif; color: light-dark(#1f2328, #e6edf3); background: light-dark(#fff, #0d1117); }
nav { flex: 0 0 15rem; padding: 1rem; border-right: 1px solid var(--line); font-size: 0.9rem; }
nav h2 { font-size: 0.9rem; margin: 1rem 0 0.25rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { padding: 0.15rem 0; }
nav [aria-current] { font-weight: bold; }
main { flex: 1; min-width: 0; max-width: 62rem; padding: 1rem 2rem 4rem; overflow-wrap: anywhere; }
a { color: light-dark(#0756b8, #6cb1ff); }
a:focus-visible, .wide:focus-visible { outline: 2px solid; outline-offset: 2px; }
code { background: var(--soft); padding: 0.1em 0.3em; border-radius: 4px; font-size: 0.9em; }
pre { background: var(--soft); padding: 0.8rem; border-radius: 6px; overflow-x: auto; }
pre code { padding: 0; }
.wide { overflow-x: auto; overflow-wrap: normal; }
table { border-collapse: collapse; }
th, td { border: 1px solid var(--line); padding: 0.3rem 0.6rem; text-align: left; vertical-align: top; }
img { max-width: 100%; height: auto; }
@media (max-width: 50rem) { body { display: block; } nav { border-right: 0; border-bottom: 1px solid var(--line); } main { padding: 1rem; } }
@media print { nav { display: none; } }
`

if (faults.length > 0) {
  for (const fault of faults) console.error(fault)
  process.exit(1)
}
const marker = path.join(folder, 'style.css')
if (existsSync(folder) && readdirSync(folder).length > 0 && !existsSync(marker)) {
  console.error(`${folder} holds something else; name an empty folder`)
  process.exit(1)
}
rmSync(folder, { recursive: true, force: true })
for (const page of pages) {
  const target = path.join(folder, parseTarget(page.source))
  mkdirSync(path.dirname(target), { recursive: true })
  writeFileSync(target, layout(page))
}
for (const picture of pictures) {
  mkdirSync(path.dirname(path.join(folder, picture)), { recursive: true })
  cpSync(path.join(root, picture), path.join(folder, picture))
}
writeFileSync(marker, style)
console.log(`${pages.length} pages in ${folder}`)

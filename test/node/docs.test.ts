// The documents against the thing they describe: names, links and commands that are not there, and words that are not ours.

import { existsSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, test } from 'vitest'
import { COMMAND_VARIABLES } from '../../scripts/start/settings.ts'
import { lostHops, WALKS } from '../../scripts/structure/walks.ts'
import { VARIABLES } from '../../src/config.ts'
import { MARKET_SOURCES } from '../../src/market/providers/registry.ts'
import { SEARCH_NAMES } from '../../src/news/providers/registry.ts'
import { CHANNEL_KINDS, CHANNELS } from '../../src/notify/registry.ts'
import { filesIn, ROOT, textOf } from '../support/source-tree.ts'

const PAGES = ['README.md', 'README.zh.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md']
const KIT_PAGES = filesIn('src/kits').filter((path) => path.endsWith('/README.md'))
const DOCUMENTS = [...PAGES, ...filesIn('docs').filter((path) => path.endsWith('.md')), ...KIT_PAGES]
const WORKER_VARIABLES = VARIABLES.map(({ name }) => name)

const matches = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, found = '']) => found)

test('the pages that a reader looks for are there', () => {
  const expected = [...PAGES, 'LICENSE', 'docs/configuration.md']
  expect(expected.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

test('docs/configuration.md has a table row for every variable of the Worker, and for none that is unknown', () => {
  const rows = matches(textOf('docs/configuration.md'), /^\|\s*`([A-Z][A-Z0-9_]*)`/gm)
  expect(WORKER_VARIABLES.filter((name) => !rows.includes(name))).toEqual([])
  const known: readonly string[] = [...WORKER_VARIABLES, ...COMMAND_VARIABLES]
  expect(rows.filter((name) => !known.includes(name))).toEqual([])
})

/** As the page writes what the code takes where nothing is set; null for nothing that a row could be held to. */
function writtenDefault(value: unknown): string | null {
  if (['string', 'number', 'boolean'].includes(typeof value) && value !== '') return String(value)
  if (Array.isArray(value) && value.length > 0) return value.join(',')
  const { count, windowMs } = Object(value) as { count?: number; windowMs?: number }
  return count === undefined || windowMs === undefined ? null : `${count}/${windowMs / 1000}`
}

test('the default of a variable in docs/configuration.md is the one of the code', () => {
  const page = textOf('docs/configuration.md')
  const defaults = VARIABLES.flatMap(({ name, schema }) => {
    const text = writtenDefault(schema.safeParse(undefined).data)
    return text === null ? [] : [[name, text]]
  })
  expect(defaults.length).toBeGreaterThan(50)
  const told = ([name]: string[]) => [
    name,
    new RegExp(`^\\| \`${name}\` \\| ([^|]*) \\|`, 'm').exec(page)?.[1]?.replace(/`/g, ''),
  ]
  expect(defaults.map(told)).toEqual(defaults)
})

/** What the first column of a table names: the rows of the table below the heading. */
const namesIn = (page: string, heading: string): string[] => {
  const section =
    textOf(page)
      .split(/^##+ /m)
      .find((text) => text.startsWith(`${heading}\n`)) ?? ''
  return matches(section, /^\| `([a-z]+)` \|/gm)
}

test('every provider and every kind of channel has its row, and none has one that is not there', () => {
  expect(namesIn('docs/market-data.md', 'Sources')).toEqual(MARKET_SOURCES)
  expect(namesIn('docs/news.md', 'Sources')).toEqual(SEARCH_NAMES)
  expect(namesIn('docs/notifications.md', 'Channels')).toEqual(CHANNEL_KINDS)
  const settings = CHANNEL_KINDS.map((kind) => {
    const row = matches(textOf('docs/notifications.md'), new RegExp(`^\\| \`${kind}\` \\| ([^|]*)`, 'gm')).join()
    return [kind, matches(row, /`(\w+)`/g).sort()]
  })
  expect(settings).toEqual(CHANNEL_KINDS.map((kind) => [kind, Object.keys(CHANNELS[kind].settings.shape).sort()]))
})

test('what the commands read for themselves is told somewhere', () => {
  const told = DOCUMENTS.map(textOf).join('\n')
  expect(COMMAND_VARIABLES.filter((name) => !new RegExp(`\\b${name}\\b`).test(told))).toEqual([])
})

test('.dev.vars.example names only variables of the Worker', () => {
  const named = matches(textOf('.dev.vars.example'), /^#?\s*([A-Z][A-Z0-9_]*)=/gm)
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter((name) => !WORKER_VARIABLES.includes(name))).toEqual([])
})

test('every link in a document leads to a file, and to a heading in it', () => {
  const links = DOCUMENTS.flatMap((page) =>
    matches(withoutCode(textOf(page)), /\]\(([^)\s]+)\)/g)
      .filter((link) => !/^[a-z]+:/.test(link))
      .map((link) => ({ page, link })),
  )
  expect(links.length).toBeGreaterThan(0)
  expect(links.filter(({ page, link }) => !leadsSomewhere(page, link))).toEqual([])
})

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : normalize(join(dirname(page), path))
  if (!existsSync(join(ROOT, target))) return false
  if (anchor === undefined || !target.endsWith('.md')) return true
  return matches(withoutCode(textOf(target)), /^#+\s+(.+)$/gm)
    .map(slug)
    .includes(anchor)
}

/** The anchor that a heading gets on the usual hosts. */
function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-')
}

function withoutCode(markdown: string): string {
  return markdown.replace(/^```[\s\S]*?^```/gm, '')
}

test('a file of code that a document names is there, by its path or the end of it', () => {
  const paths = filesIn('.').map((path) => `/${path}`)
  const named = DOCUMENTS.filter((page) => page !== 'CHANGELOG.md').flatMap((page) =>
    matches(withoutCode(textOf(page)), /`([\w@.-]+(?:\/[\w@.-]+)*\.(?:tsx?|mjs|sql))(?=[`#: ])/g).map((path) => ({
      page,
      path,
    })),
  )
  expect(named.length).toBeGreaterThan(300)
  expect(named.filter(({ path }) => !paths.some((one) => one.endsWith(`/${path}`)))).toEqual([])
})

test('the walks of ARCHITECTURE go through functions that are there, and begin at a file that it names', () => {
  const page = textOf('ARCHITECTURE.md')
  for (const [name, walk] of Object.entries(WALKS)) {
    expect([name, lostHops(walk)]).toEqual([name, []])
    expect([name, page.includes(`\`${walk[0]?.file}\``)]).toEqual([name, true])
  }
})

test('each kit has a short page that leads to the decision why it is ours', () => {
  const kits = new Set(filesIn('src/kits').map((path) => path.split('/')[2]))
  expect(KIT_PAGES).toEqual([...kits].map((kit) => `src/kits/${kit}/README.md`))
  for (const page of KIT_PAGES) {
    expect(textOf(page).split('\n').length, page).toBeLessThanOrEqual(12)
    expect(textOf(page), page).toMatch(/\]\([./]+docs\/decisions\/\d{4}-[\w-]+\.md\)/)
  }
})

test('the texts of errors in docs/troubleshooting.md are texts of the code', () => {
  const quoted = matches(textOf('docs/troubleshooting.md'), /^\| (`[^|]+)/gm).flatMap((cell) =>
    matches(cell, /`([^`]+)`/g),
  )
  const code = codeIn('src', 'durable-objects', 'runner/src', 'scripts', 'client/src')
  expect(quoted.length).toBeGreaterThan(30)
  expect(quoted.filter((text) => !code.includes(text))).toEqual([])
})

const codeIn = (...folders: string[]) =>
  folders
    .flatMap((folder) => filesIn(folder))
    .filter((path) => /\.(ts|mjs)$/.test(path))
    .map(textOf)
    .join('\n')

/** What a person cannot meet, or what says by itself all that there is to say. */
const SAID_ENOUGH = [
  /^\$\{(sentence|problem)/, // an option that is none; the command's help follows
  /is not as expected/, // of building
  /did not stop within/, // of tests
  /^(it|its|something|\$\{JSON\.stringify\(path\)\}|\$\{entry\.path\}) /, // reasons behind `cannot be restored: `
  /^The commands are backup and restore/,
  /^(There is no file \$\{file\}|\$\{file\} is a folder)/,
  /^\$\{name\} failed \(/, // what it printed stands above
  /cannot be moved aside/,
  /is in the folder that is to be backed up/,
  /is no file, and a backup cannot hold it/,
  /cannot be written: /,
  /is too long for a backup/,
]

test('whatever ends a start, a backup or a restore with a sentence is found in docs/troubleshooting.md', () => {
  const code = codeIn('scripts/start', 'scripts/backup')
  const sentences = matches(code, /new Fault\(\s*['`]((?:\$\{(?:[^}`]|`[^`]*`)*\}|[^'`])*)/g)
  const page = matches(textOf('docs/troubleshooting.md'), /^\| (`[^|]+)/gm).flatMap((cell) =>
    matches(cell, /`([^`]+)`/g),
  )
  expect(sentences.length).toBeGreaterThan(25)
  const unknown = sentences.filter((sentence) => !page.some((text) => sentence.includes(text)))
  expect(unknown.filter((sentence) => !SAID_ENOUGH.some((pattern) => pattern.test(sentence)))).toEqual([])
})

test('both READMEs tell the same facts: commands, figures, links', () => {
  const factsOf = (page: string) => {
    const text = withoutCode(textOf(page))
      .replaceAll(/(conversation|report)-zh\.png/g, '$1.png')
      .replaceAll('README.zh.md', 'README.md')
    const prose = text.replaceAll(/\]\([^)]*\)/g, ']')
    return {
      blocks: matches(textOf(page), /^```sh\n([\s\S]*?)^```/gm).map((block) => block.replaceAll(/ +#.*/g, '')),
      commands: new Set(matches(text, /`([^`]+)`/g)),
      links: new Set(matches(text, /\]\(([^)\s]+)\)/g)),
      figures: new Set(matches(prose, /(\d[\d.]*\d|\d)/g)),
    }
  }
  expect(factsOf('README.zh.md')).toEqual(factsOf('README.md'))
})

test('the index of the documents has every page', () => {
  const index = textOf('docs/README.md')
  const pages = filesIn('docs').filter((path) => /^docs\/(tutorials\/)?[\w-]+\.md$/.test(path))
  expect(pages.filter((path) => path !== 'docs/README.md' && !index.includes(`(${path.slice(5)}`))).toEqual([])
})

test('docs/privacy.md has every table of the database', () => {
  const statements = filesIn('migrations').map(textOf).join('\n')
  const gone = new Set(matches(statements, /DROP TABLE (?:IF EXISTS )?(\w+)/g))
  const tables = matches(statements, /CREATE TABLE (?:IF NOT EXISTS )?(\w+)/g).filter((name) => !gone.has(name))
  const page = textOf('docs/privacy.md')
  expect(tables.length).toBeGreaterThan(30)
  expect(tables.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

test('every npm script that a document names exists', () => {
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> }
  const named = DOCUMENTS.flatMap((page) =>
    matches(textOf(page), /\bnpm (?:run )?(start|test|(?<=run )[\w:-]+)/g).map((script) => ({ page, script })),
  )
  expect(named.map(({ script }) => script)).toEqual(expect.arrayContaining(['start', 'test', 'demo', 'check']))
  // That of another project.
  const own = named.filter(({ page, script }) => page !== 'docs/tutorials/openhands-page.md' || script !== 'build')
  expect(own.filter(({ script }) => scripts[script] === undefined)).toEqual([])
})

test('continuous integration runs the test command of the README, and nothing beside it', () => {
  const command = 'npm test'
  expect(textOf('README.md')).toContain(command)
  const lines = textOf('.ci/run').trimEnd().split('\n')
  expect(lines.at(-1)).toBe(command)
  expect(lines.filter((line) => /^\s*npm /.test(line))).toEqual(['npm ci', command])
})

test('no document keeps a list of endpoints beside the generated one', () => {
  const listed = DOCUMENTS.map((page) => ({
    page,
    rows: matches(
      withoutCode(textOf(page)),
      /^\s*(?:[|*-]|\d+\.)\s*`?((?:GET|POST|PUT|PATCH|DELETE)`?[\s|]+`?\/\S+)/gm,
    ),
  }))
  expect(listed.filter(({ rows }) => rows.length > 5)).toEqual([])
})

test('no file names a path of the machine it was written on, or where its packages came from', () => {
  const files = filesIn('.').filter((path) => /\.(ts|tsx|mjs|json|toml|md|css|html|sql|yml|npmrc)$|^\.ci\//.test(path))
  expect(files).toEqual(expect.arrayContaining(['package-lock.json', 'README.md', '.ci/run', '.npmrc']))
  const foreign = [
    /(?<![\w.$}])\/(work|Users|root)\//,
    /"resolved": "(?!(runner|client)"|scripts\/)/,
    /^\s*(@[\w-]+:)?registry\s*=/m,
  ]
  const self = 'test/node/docs.test.ts'
  const hits = files
    .filter((path) => path !== self)
    .flatMap((path) => foreign.filter((pattern) => pattern.test(textOf(path))).map((pattern) => `${path}: ${pattern}`))
  expect(hits).toEqual([])
})

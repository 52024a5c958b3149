// Who may import what. The table is the rule; CONTRIBUTING and ARCHITECTURE only summarise it.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesIn, type Import, importsOf, ROOT, textOf } from '../support/source-tree.ts'

const DOMAIN =
  'agent llm mcp workspace git-providers market news analysis portfolio alerts screening notify schedule'.split(' ')

/** What stands on its own: each could be a package. Its `index.ts` is its whole face. */
const WORKSPACE_KITS = ['kits/git', 'kits/shell', 'kits/node-program', 'kits/zip']
const NAMES = 'kits/market-names'
const KITS = [...WORKSPACE_KITS, NAMES]
const FACES = KITS.map((kit) => `src/${kit}/index.ts`)

/** Who may know inner files of a kit beside the kit and its tests, and which. */
const INSIDERS: Readonly<Record<string, RegExp>> = {
  // What is loaded on first use is loaded before a test begins, wherever it is.
  'test/helpers/lazy-modules.ts': /./,
  // Makes the list that the kit packages, and measures how it is read.
  'scripts/derive-names.mjs': /^src\/kits\/market-names\//,
  'scripts/bench/rows/names.ts': /^src\/kits\/market-names\//,
  // The other end of a kit's connection: processes that load as little as they can, file by file.
  'scripts/programs/entries/program-worker.ts': /^src\/kits\/node-program\//,
  'scripts/programs/printed.ts': /\/node-program\/runtime\/protocol\.ts$/,
  'scripts/programs/program-run.ts': /\/node-program\/wire\.ts$/,
}

/** What routes and objects may know of an analysis: what is asked for, its texts, its flow, its report. */
const SHOWN = [
  'analysis',
  'analysis/texts',
  'analysis/flow',
  'analysis/judge',
  'analysis/evidence',
  'analysis/report',
  'analysis/market-review',
]

/** What is stored and counted, and where. */
const COMMON = ['bindings', 'config', 'db', 'limits', 'lib']

/** A unit is a folder of src, a kit, a step of an analysis, a file directly in src, or durable-objects. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  containers: ['index', 'durable-objects'],
  index: ['app', 'durable-objects', 'analysis/compose', 'schedule'],
  app: ['routes', 'http'],
  routes: ['http', ...COMMON, 'runners', ...DOMAIN, ...SHOWN, 'analysis/market-data', 'analysis/chat', NAMES],
  'durable-objects': [...COMMON, 'runners', ...DOMAIN, ...SHOWN, ...WORKSPACE_KITS],
  // What the browser is asked for is written by a model and carried out by a runner: the wire owns its shape.
  agent: ['llm', 'mcp', 'workspace', 'runners', ...WORKSPACE_KITS, 'lib'],
  // The steps, each of which knows those before it.
  analysis: ['analysis/texts', 'market', 'lib'],
  'analysis/texts': ['analysis', 'market', 'lib'],
  'analysis/gather': ['analysis', 'analysis/texts', 'market', 'lib'],
  'analysis/judge': ['analysis', 'analysis/texts', 'analysis/gather', 'market', 'news', 'lib'],
  // Replays judgements over the past.
  'analysis/evidence': ['analysis', 'analysis/texts', 'analysis/judge', 'market', 'lib'],
  'analysis/write': ['analysis', 'analysis/texts', 'analysis/gather', 'analysis/judge', 'llm', 'lib'],
  'analysis/report': [
    'analysis',
    'analysis/texts',
    'analysis/gather',
    'analysis/judge',
    'analysis/evidence',
    'analysis/write',
    'market',
    'lib',
  ],
  'analysis/flow': ['analysis', 'analysis/texts', 'llm', 'lib'],
  'analysis/run': [
    'analysis',
    'analysis/texts',
    'analysis/gather',
    'analysis/judge',
    'analysis/write',
    'analysis/report',
    'analysis/flow',
    'lib',
  ],
  'analysis/market-review': [
    'analysis',
    'analysis/texts',
    'analysis/write',
    'analysis/report',
    'analysis/flow',
    'analysis/run',
    'market',
    'news',
    'lib',
  ],
  // Talks about reports: their tools, and what an answer is worth.
  'analysis/chat': [
    'analysis',
    'analysis/texts',
    'analysis/judge',
    'analysis/evidence',
    'analysis/write',
    'market',
    'news',
    NAMES,
    'lib',
  ],
  'analysis/market-data': ['market', NAMES, 'config', 'db', 'lib'],
  'analysis/compose': [
    ...SHOWN,
    'analysis/chat',
    'analysis/gather',
    'analysis/write',
    'analysis/run',
    'analysis/market-data',
    NAMES,
    'market',
    'news',
    'llm',
    'limits',
    'lib',
    'notify',
    'db',
    'bindings',
    'config',
  ],
  // Books are decided on what is stored, and stored by who decides.
  portfolio: ['market', 'db', 'lib'],
  // The same: what is looked at, kept figures and what is found among them.
  alerts: ['analysis', 'analysis/texts', 'analysis/report', 'market', 'portfolio', 'db', 'lib'],
  screening: ['analysis', 'analysis/texts', 'analysis/report', 'market', 'db', 'lib'],
  schedule: [
    'alerts',
    'screening',
    'analysis',
    'analysis/market-data',
    'analysis/evidence',
    'analysis/market-review',
    'analysis/report',
    'analysis/texts',
    'market',
    'portfolio',
    NAMES,
    'bindings',
    'config',
    'db',
    'lib',
  ],
  news: ['market', 'lib'],
  notify: ['analysis', 'analysis/texts', 'analysis/report', 'lib'],
  // Authentication stands before every route and reads the keys; what failed in an object is looked up by its name.
  http: COMMON,
  // What a call of a model costs is counted there, and what it may is refused as its failure.
  limits: ['bindings', 'config', 'llm', 'lib'],
  // The wire between the service and the runner, which packs it: no more than it needs.
  runners: ['lib'],
  workspace: ['kits/zip', 'lib'],
  'kits/git': ['workspace', 'kits/shell', 'lib'],
  'kits/shell': ['workspace', 'kits/zip', 'lib'],
  'kits/node-program': ['workspace', 'kits/shell', 'lib'],
  'kits/zip': ['lib'],
  [NAMES]: ['lib'],
  llm: ['lib'],
  mcp: ['lib'],
  'git-providers': ['lib'],
  market: [NAMES, 'kits/zip', 'lib'],
  // What is sealed in the database is sealed under the environment's keys.
  db: ['config', 'lib'],
  config: ['lib'],
  bindings: ['lib'],
  lib: [],
  web: [],
}

/** What lists units with their variables, which the configuration adds up. It may know nothing else of them. */
const REGISTRIES = ['src/market/providers/registry.ts', 'src/news/providers/registry.ts', 'src/notify/registry.ts']

/** What owns shapes: `import type` may point there from anywhere but lib and web. */
const OWNS_SHAPES = new Set([...DOMAIN, ...WORKSPACE_KITS, NAMES, ...SHOWN, 'db', 'config', 'http'])

/** Where an analysis meets the world. */
const COMPOSED = ['src/analysis/run.ts', 'src/analysis/compose.ts', 'src/analysis/consult.ts']

const FAMILIES = {
  conversations: [
    'src/agent/',
    'src/workspace/',
    // Archives are of both: workspaces, and workbooks of an import.
    ...WORKSPACE_KITS.filter((kit) => kit !== 'kits/zip').map((kit) => `src/${kit}/`),
    'src/mcp/',
    'src/git-providers/',
    'src/routes/conversations/',
    'durable-objects/conversation/',
  ],
  analysis: [
    'src/market/',
    `src/${NAMES}/`,
    'src/news/',
    'src/analysis/',
    'src/notify/',
    'src/alerts/',
    'src/screening/',
    'src/schedule/',
    'src/routes/analysis/',
    'durable-objects/task-queue/',
  ],
} as const

/** An index.ts exists only where it decides something (it mounts, chooses or falls back), and as the face of a kit. */
const INDEX_FILES = [
  'src/index.ts',
  'src/routes/conversations/index.ts',
  'src/routes/analysis/index.ts',
  'src/agent/tools/index.ts',
  'src/git-providers/index.ts',
  'src/market/providers/index.ts',
  'src/market/indicators/index.ts',
  ...FACES,
]

const FILES = filesIn('src', 'durable-objects').filter((path) => /\.tsx?$/.test(path) && path !== 'src/env.d.ts')
const IMPORTS = FILES.flatMap(importsOf)
const OURS = IMPORTS.filter(({ isOurs }) => isOurs)

function unitOf(path: string): string {
  if (path.startsWith('durable-objects/')) return 'durable-objects'
  if (COMPOSED.includes(path)) return 'analysis/compose'
  if (path === 'src/analysis/market-data.ts') return 'analysis/market-data'
  if (/^src\/(analysis|kits)\/[\w-]+\//.test(path)) return path.split('/').slice(1, 3).join('/')
  return (path.split('/')[1] ?? '').replace(/\.ts$/, '')
}

function familyOf(path: string): string | null {
  const family = Object.entries(FAMILIES).find(([, folders]) => folders.some((folder) => path.startsWith(folder)))
  return family?.[0] ?? null
}

const arrow = ({ from, target }: Import) => `${from} → ${target}`

test('the walk sees the tree: entry, app, objects and their imports', () => {
  expect(FILES).toEqual(expect.arrayContaining(['src/index.ts', 'src/app.ts', 'src/lib/log.ts']))
  expect(OURS.map(arrow)).toContain('src/index.ts → src/app.ts')
  expect(OURS.some(({ target }) => target.startsWith('durable-objects/'))).toBe(true)
})

test('every relative import names an existing file with its extension', () => {
  const broken = OURS.filter(({ target }) => !existsSync(join(ROOT, target)))
  // Styles come into being beside their component; everything else is a module.
  expect(broken.map(arrow)).toEqual([])
  expect(OURS.filter(({ target }) => !/\.(tsx?|css|json)$/.test(target)).map(arrow)).toEqual([])
})

test('every folder of src has a row in the import table', () => {
  expect([...new Set(FILES.map(unitOf))].filter((unit) => MAY_IMPORT[unit] === undefined)).toEqual([])
})

test('an import follows the table, and a type comes only from a folder that owns shapes', () => {
  const breaches = OURS.filter(({ from, target, isType }) => {
    const [source, wanted] = [unitOf(from), unitOf(target)]
    if (source === wanted || MAY_IMPORT[source]?.includes(wanted)) return false
    if (source === 'config' && REGISTRIES.includes(target)) return false
    // The chart of a report draws the lines that the report was judged by.
    if (from === 'src/web/charts/series.ts' && target.startsWith('src/market/indicators/')) return false
    if (!isType || source === 'lib' || source === 'web') return true
    // A stub is typed by the class that it leads to.
    if (source === 'bindings' && wanted === 'durable-objects') return false
    return !OWNS_SHAPES.has(wanted)
  })
  expect(breaches.map(arrow)).toEqual([])
})

test('the two families never import each other, not even a type', () => {
  const breaches = OURS.filter(({ from, target }) => {
    const [source, wanted] = [familyOf(from), familyOf(target)]
    return source !== null && wanted !== null && source !== wanted
  })
  expect(breaches.map(arrow)).toEqual([])
})

test('no file imports itself by way of others, types counted', () => {
  const graph = new Map(FILES.map((path) => [path, [] as string[]]))
  // A file that is made takes its types from the one that reads it.
  const counts = ({ from, isType }: { from: string; isType: boolean }) => !isType || !from.endsWith('.generated.ts')
  for (const one of OURS) if (counts(one)) graph.get(one.from)?.push(one.target)
  expect(findCycle(graph)).toEqual([])
})

test('what asks for an analysis loads nothing that makes one', () => {
  const makes = ['analysis/gather', 'analysis/write', 'analysis/run', 'analysis/market-review', 'analysis/compose']
  const reached = new Set(['analyze', 'queue'].map((name) => `src/routes/analysis/${name}.ts`))
  for (const path of reached) {
    for (const { from, target, isType } of OURS) if (from === path && !isType) reached.add(target)
  }
  expect(reached.has('src/analysis/texts/book.ts')).toBe(true)
  expect([...reached].filter((path) => makes.includes(unitOf(path)))).toEqual([])
})

function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const finished = new Set<string>()
  const visit = (path: string, trail: readonly string[]): string[] => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path]
    if (finished.has(path)) return []
    for (const next of graph.get(path) ?? []) {
      const cycle = visit(next, [...trail, path])
      if (cycle.length > 0) return cycle
    }
    finished.add(path)
    return []
  }
  for (const path of graph.keys()) {
    const cycle = visit(path, [])
    if (cycle.length > 0) return cycle
  }
  return []
}

test('there is no barrel: an index.ts only where it decides something, a re-export only in the entry and in the faces of kits', () => {
  expect(FILES.filter((path) => /(^|\/)index\.tsx?$/.test(path) && !INDEX_FILES.includes(path))).toEqual([])
  const reExporting = FILES.filter((path) => /^export\s+(type\s+)?(\*|\{[^}]*\})[^\n]*\sfrom\s/m.test(textOf(path)))
  // A file in a lazy/ folder re-exports one heavy package, so that it is loaded with that file, on first use.
  const mayReExport = (path: string) =>
    path === 'src/index.ts' || path === 'src/containers.ts' || FACES.includes(path) || LAZY.test(path)
  expect(reExporting.filter((path) => !mayReExport(path))).toEqual([])
  // A face names what it shows, and is nothing else.
  const more = FACES.filter((path) => withoutComments(textOf(path)).replace(NAMED_RE_EXPORT, '').trim() !== '')
  expect(more).toEqual([])
})

const LAZY = /\/lazy\/[\w-]+\.ts$/
const NAMED_RE_EXPORT = /^export (type )?\{[^}]+\} from '\.\/[\w./-]+'$/gm

test('the runner imports itself, the wire, Node and its own dependencies, and nobody imports the runner', () => {
  const { dependencies } = JSON.parse(textOf('runner/package.json'))
  const packages = [...Object.keys(dependencies), 'esbuild', 'vitest']
  const imports = filesIn('runner')
    .filter((path) => /\.(ts|mjs)$/.test(path))
    .flatMap(importsOf)
  expect(imports.map(arrow)).toContain('runner/src/runner.ts → src/runners/wire.ts')
  const breaches = imports.filter(({ from, target, isOurs }) => {
    if (!isOurs) return !target.startsWith('node:') && !packages.includes(target)
    if (target.startsWith('runner/')) return target.startsWith('runner/test/') && from.startsWith('runner/src/')
    // The commands that the shell is compared with, for the same comparison of a session.
    if (from.startsWith('runner/test/parity')) return !/^test\/support\/(real-)?shell-/.test(target)
    return !target.startsWith('src/runners/')
  })
  expect(breaches.map(arrow)).toEqual([])
  const users = [...FILES, ...filesIn('scripts', 'test').filter((path) => /\.(tsx?|m?js)$/.test(path))].flatMap(
    importsOf,
  )
  expect(users.filter(({ target }) => target.startsWith('runner/')).map(arrow)).toEqual([])
})

test('a kit is known from outside by its face alone, types included, and does not use its own', () => {
  const everywhere = [...FILES, ...filesIn('scripts', 'test').filter((path) => /\.(tsx?|m?js)$/.test(path))]
  const uses = everywhere.flatMap(importsOf).filter(({ target }) => target.startsWith('src/kits/'))
  expect(uses.filter(({ target }) => FACES.includes(target)).length).toBeGreaterThan(FACES.length)
  const breaches = uses.filter(({ from, target }) => {
    const isInside = kitOf(from) === kitOf(target)
    if (FACES.includes(target)) return isInside && from.startsWith('src/')
    return !isInside && INSIDERS[from]?.test(target) !== true
  })
  expect(breaches.map(arrow)).toEqual([])
})

test('whoever is named as an insider of a kit imports an inner file of it', () => {
  const idle = Object.entries(INSIDERS).filter(
    ([path, inner]) => !importsOf(path).some(({ target }) => inner.test(target) && !FACES.includes(target)),
  )
  expect(idle).toEqual([])
})

/** The kit that the file is part of, or that it tests. */
function kitOf(path: string): string | null {
  const [, name] = /^(?:src|test\/unit|test\/node)\/kits\/([\w-]+)\//.exec(path) ?? []
  return name ?? null
}

test('only the app, http and routes know Hono', () => {
  const breaches = IMPORTS.filter(
    ({ from, target }) => /^(hono|@hono)(\/|$)/.test(target) && !['app', 'http', 'routes'].includes(unitOf(from)),
  )
  expect(breaches.map(arrow)).toEqual([])
})

test('only durable-objects names the storage of an object', () => {
  const breaches = FILES.filter(
    (path) =>
      unitOf(path) !== 'durable-objects' &&
      /\b(SqlStorage|DurableObjectState|DurableObjectStorage)\b/.test(withoutComments(textOf(path))),
  )
  expect(breaches).toEqual([])
})

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
}

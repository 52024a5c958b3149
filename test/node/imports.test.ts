// Who may import what. The table is the rule; CONTRIBUTING and ARCHITECTURE only summarise it.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesIn, type Import, importsOf, ROOT, textOf } from '../support/source-tree.ts'

const DOMAIN = [
  'agent',
  'llm',
  'mcp',
  'workspace',
  'git-providers',
  'market',
  'news',
  'analysis',
  'reports',
  'notify',
  'review',
  'schedule',
]

/** A unit is a folder of src, a file directly in src, or durable-objects. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  index: ['app', 'durable-objects', 'analysis/runner', 'schedule'],
  app: ['routes', 'http'],
  routes: ['http', 'bindings', 'config', 'db', 'lib', ...DOMAIN, 'analysis/runner'],
  'durable-objects': ['bindings', 'config', 'db', 'limits', 'lib', ...DOMAIN],
  agent: ['llm', 'mcp', 'workspace', 'lib'],
  analysis: ['market', 'news', 'reports', 'llm', 'lib'],
  'analysis/runner': [
    'analysis',
    'market',
    'news',
    'reports',
    'review',
    'llm',
    'lib',
    'notify',
    'db',
    'bindings',
    'config',
  ],
  review: ['analysis', 'market', 'news', 'reports', 'lib'],
  schedule: ['analysis', 'analysis/runner', 'review', 'market', 'reports', 'bindings', 'config', 'db', 'lib'],
  reports: ['market', 'lib'],
  news: ['market', 'lib'],
  notify: ['reports', 'lib'],
  // Authentication stands before every route and reads the keys; what failed in an object is looked up by its name.
  http: ['bindings', 'config', 'db', 'limits', 'lib'],
  limits: ['bindings', 'config', 'lib'],
  workspace: ['lib'],
  llm: ['lib'],
  mcp: ['lib'],
  'git-providers': ['lib'],
  market: ['lib'],
  // What is sealed in the database is sealed under the environment's keys.
  db: ['config', 'lib'],
  config: ['lib'],
  bindings: ['lib'],
  lib: [],
  web: [],
}

/** What owns shapes: `import type` may point there from anywhere but lib and web. */
const OWNS_SHAPES = new Set([...DOMAIN, 'db', 'config', 'http'])

const FAMILIES = {
  conversations: [
    'src/agent/',
    'src/workspace/',
    'src/mcp/',
    'src/git-providers/',
    'src/routes/conversations/',
    'durable-objects/conversation/',
  ],
  analysis: [
    'src/market/',
    'src/news/',
    'src/analysis/',
    'src/reports/',
    'src/notify/',
    'src/review/',
    'src/schedule/',
    'src/routes/analysis/',
    'durable-objects/task-queue/',
  ],
} as const

/** An index.ts exists only where it decides something: it mounts, chooses or falls back. */
const INDEX_FILES = [
  'src/index.ts',
  'src/routes/conversations/index.ts',
  'src/routes/analysis/index.ts',
  'src/agent/tools/index.ts',
  'src/git-providers/index.ts',
  'src/market/providers/index.ts',
  'src/market/indicators/index.ts',
  'src/notify/index.ts',
]

const FILES = filesIn('src', 'durable-objects').filter((path) => /\.tsx?$/.test(path) && path !== 'src/env.d.ts')
const IMPORTS = FILES.flatMap(importsOf)
const OURS = IMPORTS.filter(({ isOurs }) => isOurs)

function unitOf(path: string): string {
  if (path.startsWith('durable-objects/')) return 'durable-objects'
  if (path === 'src/analysis/runner.ts') return 'analysis/runner'
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

test('no file imports itself by way of others', () => {
  const graph = new Map(FILES.map((path) => [path, [] as string[]]))
  for (const { from, target, isType } of OURS) if (!isType) graph.get(from)?.push(target)
  expect(findCycle(graph)).toEqual([])
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

test('there is no barrel: an index.ts only where it decides something, and a re-export only in the entry', () => {
  expect(FILES.filter((path) => /(^|\/)index\.tsx?$/.test(path) && !INDEX_FILES.includes(path))).toEqual([])
  const reExporting = FILES.filter((path) => /^export\s+(type\s+)?(\*|\{[^}]*\})[^\n]*\sfrom\s/m.test(textOf(path)))
  // A file in a lazy/ folder re-exports one heavy package, so that it is loaded with that file, on first use.
  expect(reExporting.filter((path) => path !== 'src/index.ts' && !/\/lazy\/[\w-]+\.ts$/.test(path))).toEqual([])
})

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

// The packages that were chosen for the project, and where each of them stands in real use: not beside our own code, in its place.

import { OpenAPIHono } from '@hono/zod-openapi'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { importGraph, reachOf } from '../../scripts/structure/graph.ts'
import { filesIn, importsOf, textOf } from '../support/source-tree.ts'

type Use = readonly [file: string, module: string]

/** What answers requests. */
const IN_PRODUCTION: Readonly<Record<string, readonly Use[]>> = {
  // The application is one of Hono's, with its document beside it.
  hono: [
    ['src/http/router.ts', '@hono/zod-openapi'],
    ['src/http/auth.ts', 'hono/cookie'],
  ],
  zod: [
    ['src/lib/variables.ts', 'zod'],
    ['src/db/settings.ts', 'zod'],
  ],
  'itty-durable': [['durable-objects/limiter/limiter.ts', 'itty-durable']],
  jszip: [['src/kits/zip/lazy/unzip.ts', 'jszip']],
  'isomorphic-git': [['src/kits/git/lazy/isomorphic-git.ts', 'isomorphic-git']],
}

/** What builds, starts and tests it: files that name the module between quotes, as an import or in a configuration. */
const AROUND_IT: Readonly<Record<string, readonly Use[]>> = {
  wrangler: [
    ['scripts/start/build-worker.ts', 'wrangler'],
    ['scripts/start/paths.ts', 'wrangler'],
  ],
  miniflare: [
    ['scripts/start/build-miniflare.ts', 'miniflare'],
    ['scripts/start/host.ts', 'miniflare'],
  ],
  '@cloudflare/workers-types': [['tsconfig.json', '@cloudflare/workers-types']],
  vitest: [
    ['vitest.config.ts', 'vitest/config'],
    ['scripts/test/main.ts', 'vitest'],
  ],
  '@cloudflare/vitest-pool-workers': [['vitest.config.ts', '@cloudflare/vitest-pool-workers']],
}

const { dependencies, devDependencies } = JSON.parse(textOf('package.json')) as Record<
  'dependencies' | 'devDependencies',
  Record<string, string>
>

test('what the Worker is made of is installed for it, and loaded by files that a request reaches', () => {
  const files = filesIn('src', 'durable-objects').filter((path) => /(?<!\.d)\.ts$/.test(path))
  const reached = reachOf(importGraph(files, { types: false, lazy: true }), 'src/index.ts')
  expect(reached.size).toBeGreaterThan(500)
  for (const [name, uses] of Object.entries(IN_PRODUCTION)) {
    expect([name, Object.hasOwn(dependencies, name)]).toEqual([name, true])
    for (const [file, module] of uses) {
      const isLoaded = importsOf(file).some(({ target, isType }) => target === module && !isType)
      expect({ name, file, isLoaded, isReached: reached.has(file) }).toEqual({
        name,
        file,
        isLoaded: true,
        isReached: true,
      })
    }
  }
})

test('what builds, starts and tests it is named where that is done', () => {
  for (const [name, uses] of Object.entries(AROUND_IT)) {
    const isNamed = Object.hasOwn(devDependencies, name) || Object.hasOwn(dependencies, name)
    expect([name, isNamed]).toEqual([name, true])
    for (const [file, module] of uses)
      expect([file, textOf(file).includes(`'${module}'`) || textOf(file).includes(`"${module}"`)]).toEqual([file, true])
  }
})

test('the application of the document is an application of Hono', () => {
  expect(new OpenAPIHono()).toBeInstanceOf(Hono)
})

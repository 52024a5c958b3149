// Builds the file for `miniflare-bundle.ts`: Miniflare and its dependencies in one small file, with a buffer large enough for our Worker.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Fault } from './fault.ts'

/** The part of esbuild (a dependency of wrangler) that is used here. */
type Esbuild = { build(options: Readonly<Record<string, unknown>>): Promise<unknown> }
type Loading = { onLoad(which: { filter: RegExp }, load: () => { contents: string; loader: 'js' }): void }

const own = createRequire(import.meta.url)
const MINIFLARE = own.resolve('miniflare')
/**
 * The runtime gets its configuration in one message, and Miniflare's encoder copies the whole message for every 4 kB that are
 * added to it. With a Worker of 7 MB that takes twice as long as the start of the runtime itself.
 */
const GROWTH = 'var MIN_SINGLE_SEGMENT_GROWTH = 4096;'
const ROOMY = 'var MIN_SINGLE_SEGMENT_GROWTH = 16777216;'

export async function build(folder: string): Promise<void> {
  const { build: bundle } = createRequire(own.resolve('wrangler'))('esbuild') as Esbuild
  await bundle({
    entryPoints: [MINIFLARE],
    outfile: join(folder, 'miniflare.cjs'),
    bundle: true,
    platform: 'node',
    format: 'cjs',
    // Names are kept, because Miniflare reads the names of classes.
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    // The first finds its binary beside itself; the second is only needed to transform images.
    external: ['workerd', 'sharp'],
    // Its own Workers are read from its installation.
    define: { __dirname: JSON.stringify(dirname(MINIFLARE)) },
    plugins: [{ name: 'roomy', setup: (loading: Loading) => loading.onLoad({ filter: PATTERN }, roomy) }],
    logLevel: 'warning',
  })
}

const PATTERN = /[/\\]miniflare[/\\]dist[/\\]src[/\\]index\.js$/

function roomy(): { contents: string; loader: 'js' } {
  const source = readFileSync(MINIFLARE, 'utf8')
  mustBeOnce(MINIFLARE, source, GROWTH)
  const told = source.split(READ_DATABASE)
  if (told.length !== 3) throw new Fault(`${MINIFLARE} is not as expected: it does not read ${DATABASE} once.`)
  const [before, begin, after] = told
  return { contents: `${before}${begin}${JSON.stringify(database())}${after}`.replace(GROWTH, ROOMY), loader: 'js' }
}

/**
 * The Worker that implements D1 here. It returns a bookmark with each response, for sessions, which are not used here; and the runtime flushes
 * each bookmark to disk before it returns it. So every read waited for the disk and blocked the only thread for all requests.
 */
const DATABASE = 'd1/database.worker.js'
const READ_DATABASE =
  /("d1\/database\.worker\.js"\);\s+contents\d+ = )import_fs\d+\.default\.readFileSync\(filePath, "utf8"\)/
const BOOKMARK = '[D1_SESSION_COMMIT_TOKEN_HTTP_HEADER]: await this.state.storage.getCurrentBookmark()'

export function database(): string {
  const file = join(dirname(MINIFLARE), 'workers', DATABASE)
  const source = readFileSync(file, 'utf8')
  mustBeOnce(file, source, BOOKMARK)
  return source.replace(BOOKMARK, '')
}

function mustBeOnce(file: string, source: string, text: string): void {
  if (source.split(text).length !== 2) throw new Fault(`${file} is not as expected: "${text}" is not in it once.`)
}

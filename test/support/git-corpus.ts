// Makes the repositories of the corpus on the loopback host, the same ones every time: what is random comes from a seed.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { HistoryWriter } from './git-corpus-history.ts'
import { CORPUS, type CorpusPlan } from './git-corpus-plans.ts'

const MODULES = join(import.meta.dirname, '../../node_modules')
const MAX_FILE_BYTES = 1_500_000
/** The size of all files, so that their history fits into the limit of a clone. */
const MAX_TOTAL_BYTES = 30_000_000

/** Where a repository is, and which of its refs the proof looks at. */
export interface CorpusRepository {
  folder: string
  branch: string
  tag: string
}

const made = new Map<string, Promise<CorpusRepository>>()
let copies = 0

/** A separate copy for each caller, because callers push to it. */
export async function corpusRepository(root: string, name: string): Promise<CorpusRepository> {
  const plan = CORPUS.find((other) => other.name === name)
  if (!plan) throw new Error(`no repository of the corpus is called ${name}`)
  const making = made.get(name) ?? make(root, plan)
  made.set(name, making)
  const original = await making
  copies += 1
  const folder = original.folder.replace(/(?=\.git$)/, `-${copies}`)
  await cp(join(root, original.folder), join(root, folder), { recursive: true })
  return { ...original, folder }
}

async function make(root: string, plan: CorpusPlan): Promise<CorpusRepository> {
  // The host sends deltas by id from folders of this name.
  const folder = `corpus/${plan.packing}/${plan.name}.git`
  const path = join(root, folder)
  const files = await sourcesOf(plan)
  await run(root, ['init', '-q', '--bare', '-b', 'main', path])
  await run(path, ['fast-import', '--quiet', '--date-format=raw'], new HistoryWriter(plan, files).write())
  await run(path, ['config', 'http.receivepack', 'true'])
  await pack(path, plan.packing)
  return { folder, branch: 'side', tag: 'v1.0' }
}

async function pack(path: string, packing: CorpusPlan['packing']): Promise<void> {
  if (packing === 'deep') await run(path, ['repack', '-adfq', '--depth=50', '--window=20'])
  else if (packing !== 'loose' && packing !== 'mixed') await run(path, ['repack', '-adq'])
  else {
    const packs = (await readdir(join(path, 'objects/pack'))).filter((name) => name.endsWith('.pack'))
    for (const name of packs) {
      const bytes = await readFile(join(path, 'objects/pack', name))
      // git does not unpack objects that already exist.
      await run(path, ['init', '-q', '--bare', 'loose'])
      await run(join(path, 'loose'), ['unpack-objects', '-q'], [bytes])
      await run(path, ['prune-packed', '-q'])
      await moveLoose(path, name)
    }
    // Half of it packed, half of it not.
    if (packing === 'mixed') await run(path, ['pack-objects', '-q', 'objects/pack/pack'], await halfOf(path))
  }
  if (packing === 'mixed') await run(path, ['prune-packed', '-q'])
}

async function moveLoose(path: string, pack: string): Promise<void> {
  for (const ending of ['.pack', '.idx', '.rev'])
    await rm(join(path, 'objects/pack', pack.replace(/\.pack$/, ending)), { force: true })
  for (const name of await readdir(join(path, 'loose/objects')))
    if (name.length === 2) await cp(join(path, 'loose/objects', name), join(path, 'objects', name), { recursive: true })
  await rm(join(path, 'loose'), { recursive: true })
}

async function halfOf(path: string): Promise<Uint8Array[]> {
  const lines = (await run(path, ['rev-list', '--objects', '--all'])).trimEnd().split('\n')
  const ids = lines.map((line) => line.slice(0, 40))
  return [Buffer.from(`${ids.filter((_, i) => i % 2 === 0).join('\n')}\n`)]
}

/** The package's files in the order of their names, the first ones that fit. */
async function sourcesOf({ packages, maxFiles }: CorpusPlan): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>()
  let total = 0
  for (const folder of packages) {
    if (!existsSync(join(MODULES, folder))) throw new Error(`${folder} is not installed`)
    for (const path of await filesBelow(folder)) {
      const { size } = await stat(join(MODULES, path))
      if (found.size >= maxFiles) return found
      if (size > MAX_FILE_BYTES || total + size > MAX_TOTAL_BYTES) continue
      total += size
      found.set(packages.length === 1 ? path.slice(folder.length + 1) : path, await readFile(join(MODULES, path)))
    }
  }
  return found
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(join(MODULES, folder), { withFileTypes: true })
  const paths: string[] = []
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (entry.name === 'node_modules' || entry.name.startsWith('.git')) continue
    if (entry.isDirectory()) paths.push(...(await filesBelow(`${folder}/${entry.name}`)))
    else if (entry.isFile()) paths.push(`${folder}/${entry.name}`)
  }
  return paths
}

const ENVIRONMENT = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }

/** Git's output; throws with its error message if it fails. */
export async function run(cwd: string, args: string[], input: Iterable<Uint8Array> = []): Promise<string> {
  const child = spawn('git', args, { cwd, env: { ...ENVIRONMENT, HOME: cwd } })
  child.stdin.on('error', () => undefined)
  const [out, err]: [Buffer[], Buffer[]] = [[], []]
  child.stdout.on('data', (part: Buffer) => out.push(part))
  child.stderr.on('data', (part: Buffer) => err.push(part))
  Readable.from(input).pipe(child.stdin)
  const exitCode = await new Promise<number>((done) => child.on('close', (code) => done(code ?? -1)))
  if (exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${Buffer.concat(err).toString()}`)
  return Buffer.concat(out).toString()
}

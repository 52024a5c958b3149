// The copy of the tree for mutants: the files that git tracks or would add, and the packages as hard links. The tree
// itself is never changed.

import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ROOT } from '../../test/support/source-tree.ts'

// Caches of tools among the packages; the copy makes its own, so that nothing is written through a link.
const CACHES = ['.vite', '.vite-temp', '.cache', '.experimental-vitest-cache']

/** Programs run on a text that is built of these modules. */
export const PROGRAM_RUNTIME = 'src/kits/node-program/runtime/'
const BUILT_RUNTIME = 'src/kits/node-program/runtime.generated.ts'

export class Scratch {
  readonly root: string

  constructor() {
    this.root = mkdtempSync(join(tmpdir(), 'bellwether-mutate-'))
    // Some tests run a program as another user, who reads this tree.
    chmodSync(this.root, 0o755)
    for (const path of trackedFiles()) {
      mkdirSync(join(this.root, dirname(path)), { recursive: true })
      copyFileSync(join(ROOT, path), join(this.root, path))
    }
    linkPackages(join(ROOT, 'node_modules'), join(this.root, 'node_modules'))
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.root, path), text)
  }

  restore(path: string): void {
    this.write(path, readFileSync(join(ROOT, path), 'utf8'))
  }

  /** What is made of these files is made anew; the result is what has changed by it. */
  build(paths: readonly string[]): string[] {
    if (!paths.some((path) => path.startsWith(PROGRAM_RUNTIME))) return []
    const { status, stderr } = spawnSync(process.execPath, ['scripts/build-runtime.ts'], {
      cwd: this.root,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`the runtime of programs cannot be built: ${stderr}`)
    return [BUILT_RUNTIME]
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true })
  }
}

function trackedFiles(): string[] {
  const asked = ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--deduplicate']
  const { stdout, status } = spawnSync('git', asked, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26 })
  if (status !== 0) throw new Error('git does not list the files of this tree')
  const deleted = spawnSync('git', ['ls-files', '-z', '--deleted'], { cwd: ROOT, encoding: 'utf8' }).stdout.split('\0')
  return stdout.split('\0').filter((path) => path !== '' && !deleted.includes(path))
}

function linkPackages(from: string, to: string): void {
  const linked = spawnSync('cp', ['-al', from, to])
  // Another file system: links do not reach there.
  if (linked.status !== 0) {
    rmSync(to, { recursive: true, force: true })
    const copied = spawnSync('cp', ['-a', from, to])
    if (copied.status !== 0) throw new Error(`the packages cannot be copied: ${copied.stderr}`)
  }
  for (const cache of CACHES) rmSync(join(to, cache), { recursive: true, force: true })
}

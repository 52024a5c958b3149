// A copy of the tree in which a test follows instructions: it adds files, changes others, and runs the type checker
// on the result.

import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { ROOT } from './source-tree.ts'

export type ScratchCopy = {
  root: string
  write: (path: string, text: string) => Promise<void>
  /** Replaces the only occurrence of the text. */
  edit: (path: string, from: string, to: string) => Promise<void>
  /** The output of the type checker; '' if there is no error. */
  types: () => Promise<string>
}

const COPIED = ['src', 'durable-objects', 'tsconfig.json', 'package.json']

/** A second run only checks files that the changes since the first one can affect. */
const PROJECT = {
  extends: './tsconfig.json',
  compilerOptions: { incremental: true, tsBuildInfoFile: './scratch.tsbuildinfo' },
  include: ['src', 'durable-objects'],
  exclude: ['src/web', 'src/kits/node-program/runtime'],
}

/** It is removed when the test is over. */
export async function scratchCopy(): Promise<ScratchCopy> {
  const root = await mkdtemp(join(tmpdir(), 'scratch-copy-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  for (const name of COPIED) await cp(join(ROOT, name), join(root, name), { recursive: true })
  await symlink(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  await writeFile(join(root, 'scratch.json'), JSON.stringify(PROJECT))
  const write = async (path: string, text: string) => {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  return {
    root,
    write,
    edit: async (path, from, to) => {
      const pieces = (await readFile(join(root, path), 'utf8')).split(from)
      if (pieces.length !== 2) throw new Error(`${path} has ${pieces.length - 1} times: ${from}`)
      await write(path, pieces.join(to))
    },
    types: () => typesOf(root),
  }
}

function typesOf(root: string): Promise<string> {
  const checker = join(root, 'node_modules/.bin/tsc')
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  execFile(checker, ['--noEmit', '-p', 'scratch.json'], { cwd: root, maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
    const said = stdout.trim()
    // A failed exit with output means type errors; without output the checker did not run.
    if (error !== null && said === '') reject(new Error(`tsc did not run: ${stderr}`, { cause: error }))
    else resolve(said)
  })
  return promise
}

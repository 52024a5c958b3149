// Which mutants the compiler refuses. All are checked at once, because each is on a different line; the cause of an error
// elsewhere is found by bisection.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { textOf } from '../../test/support/source-tree.ts'
import { type Mutation, mutated } from './mutations.ts'
import type { Scratch } from './scratch.ts'

type Copy = Pick<Scratch, 'root' | 'write' | 'restore'>

type Complaint = { path: string; line: number; code: number }

/** With a syntax error the compiler does not report type errors. */
const FIRST_OF_TYPES = 2000

export function refusedOf(scratch: Copy, mutations: readonly Mutation[]): Set<Mutation> {
  const lines = new Set<string>()
  const first = mutations.filter(({ path, line }) => {
    const isNew = !lines.has(`${path}:${line}`)
    lines.add(`${path}:${line}`)
    return isNew
  })
  // Two seeds may change the same line.
  const further = without(mutations, first)
  return new Set([...refusedIn(scratch, first), ...(further.length === 0 ? [] : refusedOf(scratch, further))])
}

function refusedIn(scratch: Copy, mutations: readonly Mutation[]): Mutation[] {
  if (mutations.length === 0) return []
  const byFile = Map.groupBy(mutations, ({ path }) => path)
  const complaints = complaintsAbout(scratch, byFile)
  const isAbout = (complaint: Complaint, one: Mutation) =>
    complaint.path === one.path && (complaint.line === one.line || byFile.get(one.path)?.length === 1)
  const blamed = mutations.filter((one) => complaints.some((complaint) => isAbout(complaint, one)))
  const isWhole = complaints.every(({ code }) => code >= FIRST_OF_TYPES)
  const isClear = isWhole && complaints.every((complaint) => blamed.some((one) => isAbout(complaint, one)))
  if (isClear) return blamed
  // Without the mutants found so far, the remaining errors may disappear.
  if (blamed.length > 0) return [...blamed, ...refusedIn(scratch, without(mutations, blamed))]
  if (mutations.length === 1) return [...mutations]
  const half = mutations.slice(0, mutations.length >> 1)
  return [...refusedIn(scratch, half), ...refusedIn(scratch, without(mutations, half))]
}

function without(mutations: readonly Mutation[], some: readonly Mutation[]): Mutation[] {
  return mutations.filter((one) => !some.includes(one))
}

function complaintsAbout(scratch: Copy, byFile: ReadonlyMap<string, readonly Mutation[]>): Complaint[] {
  for (const [path, own] of byFile) {
    const fromTheEnd = own.toSorted((a, b) => b.start - a.start)
    scratch.write(path, fromTheEnd.reduce(mutated, textOf(path)))
  }
  const compiler = join(scratch.root, 'node_modules', '.bin', 'tsc')
  const asked = ['--noEmit', '--pretty', 'false', '-p', 'tsconfig.json']
  const { stdout, status } = spawnSync(compiler, asked, { cwd: scratch.root, encoding: 'utf8', maxBuffer: 1 << 26 })
  for (const path of byFile.keys()) scratch.restore(path)
  const found = [...stdout.matchAll(/^([^\s(]+)\((\d+),\d+\): error TS(\d+)/gm)]
  if (status !== 0 && found.length === 0) throw new Error(`the compiler does not run: ${stdout}`)
  return found.map(([, path = '', line, code]) => ({ path, line: Number(line), code: Number(code) }))
}

// The list of a rebase's steps, as it is stored and edited.

import { GitFailure } from '../failure.ts'
import { subjectOf } from '../message-parts.ts'
import type { Repository } from '../repository.ts'
import { abbreviate, revision } from '../revisions.ts'

export type CommitVerb = 'pick' | 'reword' | 'edit' | 'squash' | 'fixup' | 'drop'

export type Step =
  | { verb: CommitVerb; oid: string; subject: string; keepsMessage?: boolean }
  | { verb: 'exec'; command: string }
  | { verb: 'break' | 'noop' }

const LETTERS: Record<string, Step['verb']> = {
  p: 'pick',
  r: 'reword',
  e: 'edit',
  s: 'squash',
  f: 'fixup',
  d: 'drop',
  x: 'exec',
  b: 'break',
}
const COMMIT_VERBS = new Set<string>(['pick', 'reword', 'edit', 'squash', 'fixup', 'drop'])
const ELSEWHERE = new Set(['label', 'l', 'reset', 't', 'merge', 'm', 'update-ref', 'u'])

export async function parseTodo(repo: Repository, text: string, { isRest = false } = {}): Promise<Step[]> {
  const steps: Step[] = []
  for (const [i, line] of text.split('\n').entries()) {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    const step = await parseStep(repo, trimmed)
    if (step === null) throw new GitFailure(`error: invalid line ${i + 1}: ${line}`, 1)
    steps.push(step)
  }
  const first = steps.find(({ verb }) => COMMIT_VERBS.has(verb))
  if (isRest) return steps
  if (first?.verb === 'squash' || first?.verb === 'fixup')
    throw new GitFailure(`error: cannot '${first.verb}' without a previous commit`, 1)
  return steps
}

async function parseStep(repo: Repository, line: string): Promise<Step | null> {
  const [word = '', ...words] = line.split(/\s+/)
  const verb = LETTERS[word] ?? word
  if (ELSEWHERE.has(word)) throw new GitFailure(`error: '${word}' in the list of a rebase is not available here`, 1)
  if (verb === 'exec') return { verb, command: line.slice(word.length).trim() }
  if (verb === 'break' || verb === 'noop') return { verb }
  if (!isCommitVerb(verb)) return null
  const option = verb === 'fixup' && /^-[Cc]$/.test(words[0] ?? '') ? words.shift() : undefined
  if (option === '-c') throw new GitFailure("error: 'fixup -c' in the list of a rebase is not available here", 1)
  const oid = await revision(repo, words.shift() ?? '')
  if (oid === null) return null
  const subject = words.join(' ').replace(/^# /, '')
  return { verb, oid: await repo.peel(oid, 'commit'), subject, ...(option !== undefined && { keepsMessage: true }) }
}

function isCommitVerb(verb: string): verb is CommitVerb {
  return COMMIT_VERBS.has(verb)
}

export function formatStep(step: Step, id: (oid: string) => string = (oid) => oid): string {
  if (step.verb === 'exec') return `exec ${step.command}\n`
  if (!('oid' in step)) return `${step.verb}\n`
  return `${step.verb}${step.keepsMessage ? ' -C' : ''} ${id(step.oid)} ${step.subject}\n`
}

export function formatSteps(steps: readonly Step[]): string {
  return steps.map((step) => formatStep(step)).join('')
}

/** With short ids, for users. */
export async function shownSteps(repo: Repository, steps: readonly Step[]): Promise<string> {
  const short = new Map<string, string>()
  for (const step of steps) if ('oid' in step) short.set(step.oid, await abbreviate(repo, step.oid))
  return steps.map((step) => formatStep(step, (oid) => short.get(oid) ?? oid)).join('')
}

export async function pickSteps(repo: Repository, oids: readonly string[]): Promise<Step[]> {
  const steps: Step[] = []
  for (const oid of oids) steps.push({ verb: 'pick', oid, subject: subjectOf((await repo.commit(oid)).message) })
  return steps
}

/** Moves commits that start with `fixup!` or `squash!` after their target commits. */
export function autosquashed(steps: readonly Step[]): Step[] {
  const groups: Step[][] = []
  const bySubject = new Map<string, Step[]>()
  const byId = new Map<string, Step[]>()
  for (const step of steps) {
    const marked = 'oid' in step ? /^(?:(fixup|squash)! )+/.exec(step.subject) : null
    const target = 'oid' in step && marked ? step.subject.slice(marked[0].length) : null
    const group = target === null ? undefined : targetGroup(target, { bySubject, byId })
    if (group && 'oid' in step) {
      const verb = step.subject.startsWith('squash!') ? 'squash' : 'fixup'
      group.push({ ...step, verb })
      continue
    }
    const own = [step]
    groups.push(own)
    if (!('oid' in step)) continue
    if (!bySubject.has(step.subject)) bySubject.set(step.subject, own)
    byId.set(step.oid, own)
  }
  return groups.flat()
}

type Targets = { bySubject: ReadonlyMap<string, Step[]>; byId: ReadonlyMap<string, Step[]> }

/** By its whole subject, by its id, or by the start of its subject. */
function targetGroup(target: string, { bySubject, byId }: Targets): Step[] | undefined {
  const exact = bySubject.get(target)
  if (exact) return exact
  const id = /^[0-9a-f]{4,40}$/.test(target) ? [...byId].find(([oid]) => oid.startsWith(target)) : undefined
  return id?.[1] ?? [...bySubject].find(([subject]) => subject.startsWith(target))?.[1]
}

export function withCommands(steps: readonly Step[], commands: readonly string[]): Step[] {
  const added = commands.map((command): Step => ({ verb: 'exec', command }))
  return steps.flatMap((step, i) => {
    const next = steps[i + 1]
    return next?.verb === 'fixup' || next?.verb === 'squash' ? [step] : [step, ...added]
  })
}

/** The help text in a list for editing. */
export const TODO_HELP = [
  'p, pick <commit> = use commit',
  'r, reword <commit> = use commit, but edit the commit message',
  'e, edit <commit> = use commit, but stop for amending',
  's, squash <commit> = use commit, but meld into previous commit',
  'f, fixup [-C] <commit> = like "squash", without its message (-C: with its message alone)',
  'x, exec <command> = run command (the rest of the line) using shell',
  'b, break = stop here',
  'd, drop <commit> = remove commit',
]

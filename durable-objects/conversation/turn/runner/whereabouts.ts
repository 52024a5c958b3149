// Tells a conversation where its commands run: with the first command on a runner, when another runner takes over, and
// when there is none any more. An owner without runners is told nothing, because commands always run in the
// interpreter.

import type { RuntimeWish } from '../../../../src/agent/runtime.ts'
import type { RunnerDescription } from '../../../../src/runners/wire.ts'
import type { NoRunner } from '../../../owner/runner-pool.ts'
import type { RunnerRecord } from './runner-record.ts'

/** `unasked`: the pool did not answer. */
export type Missing = NoRunner | 'silent' | 'unasked'

/** The place to report next, with its text; null when it was reported already. */
export function placeToTell(
  { runner, told, left }: Readonly<RunnerRecord>,
  { wish, missing }: { wish: RuntimeWish; missing: Missing | null },
): { told: string; text: string } | null {
  const isElsewhere = left !== null && left.paths.length > 0 && (missing !== null || left.runner !== runner?.id)
  const lost = isElsewhere ? ` Not there, because it stayed on the runner before: ${listed(left.paths)}.` : ''
  const anew = told === null ? '' : ANEW
  if (missing === null) {
    if (runner === null || told === runner.id) return null
    return {
      told: runner.id,
      text: `Commands run on the runner ${described(runner)}.${anew}${imageRemark(wish, runner)}${lost}`,
    }
  }
  const isNews = told === null ? missing !== 'none' : told !== 'edge'
  if (!isNews) return null
  const text = `Commands run in the interpreter at the edge, which has no processes: ${REASONS[missing]}.${anew}${lost}`
  return { told: 'edge', text }
}

const ANEW = ' The session begins anew there: variables, functions and jobs of the one before are gone.'

const REASONS: Readonly<Record<Missing, string>> = {
  none: 'no runner is connected',
  labels: 'no connected runner has the labels',
  full: 'all connected runners are busy',
  disk: 'the disk of the runner that is free is full',
  silent: 'the runner that was asked did not come',
  unasked: 'it could not be found out which runners are connected',
}

function described({ name, os, arch, isolation, network }: RunnerDescription): string {
  const sandbox = isolation === 'none' ? 'without a sandbox' : `in a sandbox with the network ${network}`
  return `${name} (${os} ${arch}, ${sandbox})`
}

function imageRemark({ image }: RuntimeWish, { labels }: RunnerDescription): string {
  if (!image || labels.includes(image)) return ''
  return ` No connected runner that is free has the label ${image}, which the settings ask for.`
}

const SHOWN = 10

function listed(paths: readonly string[]): string {
  const more = paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : ''
  return `${paths.slice(0, SHOWN).join(', ')}${more}`
}

const INSTEAD = '(docs/runners.md), or begin a conversation with runtime=edge.'

/** The message when a runner is required and none is there: what the user can do. */
export function whyNone(reason: Missing, labels: readonly string[]): string {
  if (reason === 'none') return `No runner is connected. Start one with "npm run runner" ${INSTEAD}`
  if (reason === 'labels') {
    const start = `npm run runner -- --labels ${labels.join(',')}`
    return `No connected runner has the labels ${labels.join(', ')}. Start one with "${start}" ${INSTEAD}`
  }
  if (reason === 'full') {
    const which =
      labels.length === 0 ? 'All connected runners' : `All connected runners with the labels ${labels.join(', ')}`
    return `${which} are busy. Wait, raise the capacity of one, or start another.`
  }
  if (reason === 'disk')
    return 'The disk of the runner that is free is full. Make room on its machine (docs/runners.md), or start another runner.'
  if (reason === 'unasked') return 'It could not be found out which runners are connected. Try again in a moment.'
  return 'The runner was told to connect to this conversation and did not. Look at its log.'
}

/** Labels that a runner must have, and labels that it should have. */
export function labelsOf({ kind, labels, image }: RuntimeWish): { labels: string[]; preferred: string[] } {
  if (!image) return { labels: [...labels], preferred: [] }
  return kind === 'runner' ? { labels: [...labels, image], preferred: [] } : { labels: [...labels], preferred: [image] }
}

// Both sides in turn, round after round, so that whatever the machine does it does to both. What counts is the ratio of
// a round; the figures themselves are this machine's.

import { setTimeout as sleep } from 'node:timers/promises'
import { median, spread } from './stats.ts'

/** What one side did in one slice. What cannot be known on this machine is null. */
export type Sample = {
  readonly value: number
  /** The share of a core that the generator used. */
  readonly clientCpu: number | null
  /** Processor time of the server for one request. */
  readonly serverMicros: number | null
  /** The share of a core that the server used. */
  readonly serverCpu?: number | null
  /** How long the server was ready to run while something else had its core, as a share of the slice. */
  readonly waited: number | null
}

export type Target = {
  readonly ratioAtLeast?: number
  readonly ratioAtMost?: number
  readonly oursAtLeast?: number
  readonly oursAtMost?: number
  /** How far ours may lie above the baseline. */
  readonly excessAtMost?: number
}

/** `share`: of all that there should be. */
export type Unit = '/s' | 'ms' | 'MiB' | 'share'

export type Measurement = {
  readonly row: string
  readonly what: string
  readonly unit: Unit
  ours(): Promise<Sample>
  baseline(): Promise<Sample>
  /** What one side leaves behind must be over before the other one's turn. */
  readonly restMs?: number
  /** Rounds of the baseline are expected to differ: it is chance, or close to nothing. */
  readonly isErratic?: boolean
}

/** A measurement with what it is held to. */
export type Aimed = Measurement & { readonly target: Target }

export type Verdict = 'met' | 'missed' | 'noisy' | 'client-bound'

export type Result = {
  readonly row: string
  readonly what: string
  readonly unit: Unit
  readonly target: Target
  readonly verdict: Verdict
  readonly ours: number
  readonly baseline: number
  readonly ratio: { readonly median: number; readonly min: number; readonly max: number }
  readonly spread: { readonly ours: number; readonly baseline: number }
  /** Ours by the baseline's, of the processor time for one request; null where it is not known. */
  readonly serverTimeRatio: number | null
  readonly serverMicros: { readonly ours: number | null; readonly baseline: number | null }
  readonly clientCpu: number | null
  readonly rounds: number
  readonly disturbed: number
  readonly attempts: number
}

type Round = { ours: Sample; baseline: Sample }

/** A side whose rounds differ by more says nothing, unless each round by itself says the same. */
const MAX_SPREAD = 0.25
/** A generator that uses more of its core, and more than the server does, may be what was measured. */
const MAX_CLIENT_CPU = 0.8
/** Above it, other programs had the server's core for so long that the round is taken again. */
const MAX_WAITED = 0.1
const ATTEMPTS = 3
export const LEAST_ROUNDS = 5

/**
 * Measures, and again when the machine was too restless, at most three times. Where it is late, as on a machine that others keep
 * busy, with the least rounds and not again.
 */
export async function compare(measurement: Aimed, plan: Plan): Promise<Result> {
  await measurement.ours()
  await measurement.baseline()
  let result = await attempt(measurement, plan, 1)
  for (let count = 2; result.verdict === 'noisy' && count <= ATTEMPTS && !isLate(plan); count++) {
    result = await attempt(measurement, plan, count)
  }
  return result
}

/** `until`: on the clock of `performance.now()`. */
export type Plan = { readonly rounds: number; readonly until: number }

const isLate = ({ until }: Plan): boolean => performance.now() > until

async function attempt(measurement: Aimed, plan: Plan, attempts: number): Promise<Result> {
  const { rounds: wanted } = plan
  const calm: Round[] = []
  const all: Round[] = []
  const isEnough = () => calm.length >= wanted || all.length >= (isLate(plan) ? LEAST_ROUNDS : wanted * 2)
  while (!isEnough()) {
    const ours = await measurement.ours()
    await sleep(measurement.restMs ?? 0)
    const round = { ours, baseline: await measurement.baseline() }
    all.push(round)
    if (isCalm(round)) calm.push(round)
  }
  const rounds = calm.length < LEAST_ROUNDS ? all : calm
  return { ...judge(measurement, rounds), disturbed: all.length - calm.length, attempts }
}

function isCalm({ ours, baseline }: Round): boolean {
  return [ours, baseline].every(({ waited }) => waited === null || waited <= MAX_WAITED)
}

function judge(
  { row, what, unit, target, isErratic }: Aimed,
  rounds: readonly Round[],
): Omit<Result, 'disturbed' | 'attempts'> {
  const values = (side: keyof Round) => rounds.map((round) => round[side].value)
  const ratios = rounds.map(({ ours, baseline }) => ours.value / baseline.value)
  const ratio = { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) }
  const spreads = { ours: spread(values('ours')), baseline: spread(values('baseline')) }
  const serverMicros = { ours: serverMicrosOf(rounds, 'ours'), baseline: serverMicrosOf(rounds, 'baseline') }
  const isServerKnown = serverMicros.ours !== null && serverMicros.baseline !== null
  const samples = rounds.flatMap(({ ours: one, baseline: other }) => [one, other])
  const loads = samples.map((sample) => sample.clientCpu).filter((cpu) => cpu !== null)
  const clientCpu = loads.length === 0 ? null : Math.max(...loads)
  const ours = median(values('ours'))
  const baseline = median(values('baseline'))
  const met = rounds.map((round) => isMetIn(target, round))
  const isRestless = isErratic !== true && Math.max(spreads.ours, spreads.baseline) > MAX_SPREAD
  let verdict: Verdict = isMet(target, { ratio: ratio.median, ours, baseline }) ? 'met' : 'missed'
  if (isRestless && (isOpen(target) || new Set(met).size > 1)) verdict = 'noisy'
  if (samples.some(isClientBound)) verdict = 'client-bound'
  return {
    ...{ row, what, unit, target, verdict, ours, baseline, ratio, spread: spreads },
    ...{ serverMicros, clientCpu, rounds: rounds.length },
    serverTimeRatio: isServerKnown ? Number(serverMicros.ours) / Number(serverMicros.baseline) : null,
  }
}

/** The busier of the two, client or server, is what was measured. */
function isClientBound({ clientCpu, serverCpu }: Sample): boolean {
  return clientCpu !== null && clientCpu > MAX_CLIENT_CPU && clientCpu > (serverCpu ?? 0)
}

type Figures = { ratio: number; ours: number; baseline: number }

export function isMet(target: Target, { ratio, ours, baseline }: Figures): boolean {
  const [none, any] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  return (
    ratio >= (target.ratioAtLeast ?? none) &&
    ratio <= (target.ratioAtMost ?? any) &&
    ours >= (target.oursAtLeast ?? none) &&
    ours <= (target.oursAtMost ?? any) &&
    ours - baseline <= (target.excessAtMost ?? any)
  )
}

function isMetIn(target: Target, { ours: { value: ours }, baseline: { value: baseline } }: Round): boolean {
  return isMet(target, { ratio: ours / baseline, ours, baseline })
}

/** Nothing is wanted, so nothing but calm rounds tells whether a figure is good for anything. */
const isOpen = (target: Target): boolean => Object.keys(target).length === 0

function serverMicrosOf(rounds: readonly Round[], side: keyof Round): number | null {
  const known = rounds.map((round) => round[side].serverMicros).filter((micros) => micros !== null)
  return known.length === 0 ? null : median(known)
}

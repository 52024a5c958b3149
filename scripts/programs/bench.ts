// What the hostile programs cost: those that run beside them, and their own endings.

import { HOSTILE, type Hostile } from './hostile.ts'
import { type ShellRig, startShellRig } from './shell-rig.ts'

const TIMEOUT_MS = 2000
const IDLE_MS = 15_000
const AT_A_TIME = 3

type Probes = { program: number[]; request: number[] }
type Ended = { name: string; exitCode: number; pastMs: number; said: string }

export async function main(): Promise<void> {
  const rig = await startShellRig()
  try {
    await rig.run({ script: 'node -p 1' })
    const idleFor = () => new Promise((resolve) => setTimeout(resolve, IDLE_MS))
    const before = await probeUntil(rig, idleFor())
    const ended: Ended[] = []
    const beside = await probeUntil(rig, torment(rig, ended))
    // What else the machine does changes meanwhile.
    const after = await probeUntil(rig, idleFor())
    print(ended)
    console.log()
    for (const what of ['program', 'request'] as const) {
      console.log(`a ${what}, alone:           ${summary([...before[what], ...after[what]])}`)
      console.log(`a ${what}, beside ${AT_A_TIME} of them: ${summary(beside[what])}`)
    }
  } finally {
    await rig.stop()
  }
}

async function torment(rig: ShellRig, ended: Ended[]): Promise<void> {
  const waiting = [...HOSTILE]
  const next = async (): Promise<void> => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) ended.push(await endOf(rig, one))
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, next))
}

async function endOf(rig: ShellRig, { name, code }: Hostile): Promise<Ended> {
  const files = { '/workspace/program.js': code }
  const outcome = await rig.run({ script: 'node program.js', files, timeoutMs: TIMEOUT_MS, group: 'hostile' })
  const said = outcome.output.match(/^node: .*$/gm)?.at(-1) ?? outcome.output.split('\n')[0] ?? ''
  return { name, exitCode: outcome.exitCode, pastMs: outcome.tookMs - TIMEOUT_MS, said: said.slice(0, 70) }
}

/** Light requests and trivial programs, one of each after the other. */
async function probeUntil(rig: ShellRig, end: Promise<unknown>): Promise<Probes> {
  const taken: Probes = { program: [], request: [] }
  let isOver = false
  const over = end.finally(() => {
    isOver = true
  })
  while (!isOver) {
    taken.request.push(await rig.light())
    const start = performance.now()
    const { output } = await rig.run({ script: 'node -p "6 * 7"', group: 'probe' })
    taken.program.push(performance.now() - start)
    if (output !== '42\n') throw new Error(`the probe answered ${output}`)
  }
  await over
  return taken
}

function print(ended: readonly Ended[]): void {
  for (const { name, exitCode, pastMs, said } of ended) {
    const past = pastMs > 0 ? `${pastMs} ms past` : 'before its time'
    console.log(`${name.padEnd(36)} ${String(exitCode).padStart(3)}  ${past.padStart(16)}  ${said}`)
  }
  console.log(
    `\n${ended.length} programs, at most ${Math.max(...ended.map(({ pastMs }) => pastMs))} ms past their time`,
  )
}

function summary(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms (${values.length})`
}

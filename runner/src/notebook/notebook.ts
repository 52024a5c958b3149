// The notebook of one conversation: one kernel, started with the first cell and kept between cells. A call is not a
// cell: it may leave a cell running, and a later call can wait for it or interrupt it.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { type CellPiece, cellPieceIn } from '../../../src/runners/output.ts'
import type { CallStart } from '../../../src/runners/wire.ts'
import type { Log } from '../log.ts'
import type { Launch } from '../sandbox/launch.ts'
import type { CallEnd } from '../session/active-call.ts'
import { countDescendants, killTree } from '../session/processes.ts'
import { Lines } from '../tool-servers.ts'
import { CellOutput } from './cell-output.ts'
import { PiecesBetween } from './pieces-between.ts'

export type NotebookDeps = {
  /** Null on a machine without a kernel. */
  readonly launch: (() => Launch) | null
  readonly log: Log
  /** A kernel is ended after this time without use; null for never. */
  readonly idleMs: number | null
}
export type CellEvents = {
  readonly onOutput: (bytes: Buffer) => void
  /** The kernel has received the cell. */
  readonly onBegun: () => void
  readonly onEnded: (end: CallEnd) => void
}

const KernelMessage = z.discriminatedUnion('t', [
  z.object({ t: z.literal('ready'), python: z.string().max(4000), cwd: z.string().max(4000) }),
  z.object({ t: z.literal('done'), status: z.string().max(100), cwd: z.string().max(4000) }),
  z.object({ t: z.literal('dead'), code: z.number().int() }),
])

type Kernel = {
  readonly id: string
  readonly isFirst: boolean
  readonly child: ChildProcessWithoutNullStreams
  state: 'starting' | 'idle' | 'busy'
  /** The request that waits until it is ready. */
  waiting: string | null
  env: string
  death: string
  stderr: string
  /** The number of its processes when it is idle. */
  atRest: number
}
type Call = CellEvents & { readonly output: CellOutput }

const STDERR_CHARS = 2000

export class Notebook {
  readonly #deps: NotebookDeps
  #kernel: Kernel | null = null
  #call: Call | null = null
  readonly #between = new PiecesBetween()
  /** The result of a cell that ended while no call was waiting. */
  #endedBetween: CallEnd | null = null
  /** Reported with the next cell: why its variables are lost. */
  #note = ''
  #idle: NodeJS.Timeout | null = null
  #hasHadOne = false
  /** The kernel's current folder, as last reported. */
  place = { cwd: '', interpreter: '' }

  constructor(deps: NotebookDeps) {
    this.#deps = deps
  }

  get pid(): number | null {
    return this.#kernel?.child.pid ?? null
  }

  /** A cell is running, or processes that a cell started. */
  get hasWork(): boolean {
    const kernel = this.#kernel
    if (kernel === null) return false
    return kernel.state === 'busy' || (kernel.atRest > 0 && countDescendants(kernel.child.pid ?? 0) > kernel.atRest)
  }

  /** Executes the call: its output and its end are sent to `events`, until it is left. */
  take({ kind, text, env }: Pick<CallStart, 'kind' | 'text' | 'env'>, events: CellEvents): void {
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = null
    this.#call = { ...events, output: new CellOutput(events.onOutput) }
    if (this.#deps.launch === null) this.#end(refused('This machine has no notebook kernel.'))
    else this.#carryOut(kind, text, env)
  }

  #carryOut(kind: CallStart['kind'], text: string, env: CallStart['env']): void {
    if (kind === 'restart') this.#stop('')
    const isBusy = this.#kernel?.state === 'busy' || this.#kernel?.waiting != null
    const isOnlyWait = text.trim() === '' || kind === 'interrupt'
    if (!isBusy && isOnlyWait) this.#endIdle(kind)
    else if (isBusy && !isOnlyWait) this.#end(refused(STILL_RUNS))
    else {
      this.#between.handTo(this.#call?.output)
      // It was interrupted before and may be cleaning up: one signal is enough.
      if (kind === 'interrupt') this.interrupt([])
      if (!isOnlyWait) this.#run(text, env)
    }
  }

  /** The call is over, whatever the state of the cell. */
  leave(): void {
    this.#call?.output.end()
    this.#call = null
    this.#restartIdle()
  }

  /** Repeated while the cell runs: a kernel ignores a signal that arrives before it has the cell. */
  interrupt(again: readonly number[] = INTERRUPT_AGAIN_MS): void {
    const [kernel, call] = [this.#kernel, this.#call]
    if (kernel === null) return
    this.#order(kernel, { op: 'interrupt' })
    const [waitMs, ...later] = again
    if (waitMs === undefined) return
    setTimeout(() => {
      const isSame = this.#kernel === kernel && this.#call === call && call !== null
      if (isSame && kernel.state === 'busy') this.interrupt(later)
    }, waitMs).unref()
  }

  /** The kernel and its state are lost; the next cell gets a new one and a note about this. */
  kill(why: string): void {
    const isBusy = this.#kernel?.state === 'busy' || this.#kernel?.waiting != null
    this.#stop(why)
    if (isBusy) this.#end({ state: 'killed', text: why, exitCode: 137 })
  }

  end(): void {
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#call = null
    this.#stop('')
  }

  /** There is nothing to wait for or to interrupt. */
  #endIdle(kind: CallStart['kind']): void {
    const ended = this.#endedBetween
    this.#endedBetween = null
    this.#between.handTo(this.#call?.output)
    if (kind === 'restart') this.#end({ state: 'ended', text: RESTARTED, exitCode: 0 })
    else if (ended !== null) this.#end(ended)
    else
      this.#end(
        refused(
          kind === 'interrupt'
            ? 'No cell runs that could be interrupted.'
            : 'No cell runs whose output could be waited for.',
        ),
      )
  }

  #run(code: string, env: CallStart['env']): void {
    this.#endedBetween = null
    const kernel = this.#kernel ?? this.#start()
    const envText = JSON.stringify(env)
    const order = { op: 'run', code, env: kernel.env === envText ? {} : env }
    kernel.env = envText
    this.#call?.output.push({ t: 'kernel', id: kernel.id, isFirst: kernel.isFirst })
    if (this.#note !== '') this.#call?.output.push({ t: 'text', text: `[${this.#note}]\n` })
    this.#note = ''
    if (kernel.state === 'starting') kernel.waiting = JSON.stringify(order)
    else {
      kernel.state = 'busy'
      this.#order(kernel, order)
    }
  }

  #start(): Kernel {
    const { launch, log } = this.#deps
    if (launch === null) throw new Error('no kernel here')
    const { command, args, env, cwd } = launch()
    const child = spawn(command, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] })
    const whose = { id: randomBytes(8).toString('hex'), isFirst: !this.#hasHadOne }
    const kernel: Kernel = {
      ...whose,
      child,
      state: 'starting',
      waiting: null,
      env: '{}',
      death: '',
      stderr: '',
      atRest: 0,
    }
    this.#kernel = kernel
    this.#hasHadOne = true
    log('kernel.started')
    child.stdin.on('error', () => {
      // It does not read any more: its exit is handled elsewhere.
    })
    child.stderr.on('data', (chunk) => {
      kernel.stderr = (kernel.stderr + String(chunk)).slice(-STDERR_CHARS)
    })
    const lines = new Lines((line) => line !== null && this.#said(kernel, line))
    child.stdout.on('data', (chunk) => lines.push(chunk))
    child.on('error', (error) => this.#gone(kernel, error.message))
    child.on('close', (code, signal) => this.#gone(kernel, kernel.death || signal || `exit code ${code}`))
    return kernel
  }

  #order(kernel: Kernel, order: object): void {
    kernel.child.stdin.write(`${JSON.stringify(order)}\n`)
  }

  #said(kernel: Kernel, line: string): void {
    if (this.#kernel !== kernel) return
    const piece = cellPieceIn(line)
    const told = piece === null ? KernelMessage.safeParse(jsonIn(line)).data : undefined
    if (piece !== null) this.#brought(piece)
    if (told === undefined) return
    if (told.t === 'dead') kernel.death = told.code < 0 ? `signal ${-told.code}` : `exit code ${told.code}`
    else this.#stands(kernel, told)
  }

  #stands(kernel: Kernel, told: Exclude<z.infer<typeof KernelMessage>, { t: 'dead' }>): void {
    this.place = { cwd: told.cwd, interpreter: told.t === 'ready' ? told.python : this.place.interpreter }
    kernel.state = 'idle'
    if (kernel.waiting !== null) {
      kernel.child.stdin.write(`${kernel.waiting}\n`)
      kernel.waiting = null
      kernel.state = 'busy'
      this.#call?.onBegun()
    }
    if (told.t === 'ready') kernel.atRest = countDescendants(kernel.child.pid ?? 0)
    else this.#end({ state: 'ended', text: '', exitCode: told.status === 'ok' ? 0 : 1 })
  }

  #brought(piece: CellPiece): void {
    if (this.#call !== null) {
      this.#call.output.push(piece)
      return
    }
    this.#between.push(piece)
  }

  /** The cell ended, or there was none. */
  #end(end: CallEnd): void {
    const call = this.#call
    if (call === null) {
      this.#endedBetween = end
      this.#restartIdle()
      return
    }
    this.leave()
    call.onEnded(end)
  }

  #gone(kernel: Kernel, how: string): void {
    if (this.#kernel !== kernel) return
    this.#kernel = null
    const said =
      kernel.stderr.trim() === '' || kernel.state !== 'starting' ? '' : `: ${kernel.stderr.trim().slice(-1000)}`
    this.#deps.log('kernel.gone', { how })
    const text = kernel.state === 'starting' ? `The kernel did not start (${how})${said}` : `The kernel died (${how})`
    const isWaitedFor = kernel.state !== 'idle' && this.#call !== null
    if (!isWaitedFor) this.#note = `${text} since the last cell. This is a new one: all variables are gone.`
    if (kernel.state !== 'idle')
      this.#end({
        state: 'lost',
        text: `${text}. The next cell starts a new one: all variables are gone.`.slice(0, 2000),
        exitCode: 1,
      })
  }

  #stop(why: string): void {
    const kernel = this.#kernel
    this.#kernel = null
    this.#note = why === '' || kernel === null ? '' : `${why} This is a new kernel: all variables are gone.`
    if (kernel?.child.pid !== undefined) killTree(kernel.child.pid)
  }

  #restartIdle(): void {
    const { idleMs } = this.#deps
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#idle = null
    if (idleMs === null || this.#kernel === null) return
    const look = () => {
      if (this.hasWork) this.#restartIdle()
      else this.#stop(`The kernel was ended after ${idleMs / 60_000} minutes without a cell.`)
    }
    this.#idle = setTimeout(look, idleMs)
    this.#idle.unref()
  }
}

/** The time between two signals; the last one is for a busy machine. */
const INTERRUPT_AGAIN_MS = [600, 600, 1_200]
const STILL_RUNS =
  'The last cell still runs, so this one was not started. Wait for it with empty code, end it with kernel="interrupt", or begin anew with kernel="restart".'
const RESTARTED = 'The kernel was restarted: all variables are gone.'

const refused = (text: string): CallEnd => ({ state: 'refused', text, exitCode: -1 })
function jsonIn(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // The cell's code can write to this pipe; anything that is not a message is ignored.
    return null
  }
}

// `> >(command)`: the output goes to a command. The command starts to read when the writer has ended (with `exec` that is the
// shell), because commands run one after another here; except `tee`, which only passes its input on, so it works immediately.

import { fieldsOfWord } from './expansion/braces.ts'
import { Expander } from './expansion/expander.ts'
import type { OutputRoutes, OutputTarget } from './output-routes.ts'
import type { Position, Watched } from './position.ts'
import type { Redirection, Script, SimpleCommand } from './shape.ts'
import type { OutputProcess } from './waiting-process.ts'
import { type Run, writtenText } from './words-alone.ts'

const OUTPUT = 1
const ERRORS = 2

/** `processes` takes what is to run when all is written. */
type Target = { shell: Watched; position: Position; routes: OutputRoutes; run: Run; processes: OutputProcess[] }
type Open = (word: string, operator: string) => Promise<OutputTarget | string>

/** The body of the substitution if it is the whole target; null for any other target. */
export function processOf({ target }: Redirection): Script | null {
  const [part, ...others] = 'parts' in target ? target.parts : []
  return part?.type === 'ProcessSubstitution' && others.length === 0 && part.direction === 'output' ? part.body : null
}

/** The destination of the output; `open` opens a file. */
export async function processPlace(target: Target, body: Script, open: Open): Promise<OutputTarget> {
  const { processes, routes } = target
  const places = await teePlaces(target, body, open)
  if (places !== null) {
    const write = async (bytes: string) => {
      for (const place of places) await place.write(bytes)
    }
    return { write }
  }
  const pieces: string[] = []
  // It is a shell that starts now, with the current options.
  processes.push({ body, routes: routes.copy(), options: { ...target.shell.ctx.state.options }, pieces })
  return { write: (bytes) => void pieces.push(bytes) }
}

async function teePlaces(target: Target, body: Script, open: Open): Promise<OutputTarget[] | null> {
  const command = teeIn(body)
  if (command === null) return null
  const onward = target.routes.at(streamOf(command.redirections) ?? OUTPUT)
  const words: string[] = []
  const expander = new Expander(target.shell, target.position, target.run)
  for (const word of command.args) words.push(...(await fieldsOfWord(expander, word)))
  const options = words.filter((word) => word.startsWith('-'))
  const appends = options.some((word) => /^(?:-i?ai?|--append)$/.test(word))
  if (onward === undefined || options.some((word) => !/^(?:-i?ai?|-i|--append)$/.test(word))) return null
  const places: OutputTarget[] = []
  for (const word of words.filter((one) => !one.startsWith('-'))) {
    const place = await open(word, appends ? '>>' : '>')
    if (typeof place === 'string') return null
    places.push(place)
  }
  return [...places, onward]
}

function teeIn({ statements: [statement, ...more] }: Script): SimpleCommand | null {
  const [pipeline, ...others] = statement?.pipelines ?? []
  const [command] = pipeline?.commands ?? []
  if (more.length + others.length > 0 || pipeline?.commands.length !== 1 || command?.type !== 'SimpleCommand')
    return null
  if (command.name?.parts.map(writtenText).join('') !== 'tee' || command.assignments.length > 0) return null
  return streamOf(command.redirections) === null ? null : command
}

/** The stream of the shell to which a command with these redirections writes; null if it is not that simple. */
function streamOf([one, ...more]: readonly Redirection[]): number | null {
  if (one === undefined) return OUTPUT
  if (more.length > 0 || one.operator !== '>&' || (one.fd ?? OUTPUT) !== OUTPUT || !('parts' in one.target)) return null
  const text = one.target.parts.map(writtenText).join('')
  return text === '1' || text === '2' ? Number(text) : null
}

/** Runs a shell, and then the commands that wait for its output. */
export async function withProcesses<T>(shell: Watched, position: Position, run: () => Promise<T>): Promise<T> {
  const before = position.processes
  position.processes = []
  try {
    return await run()
  } finally {
    const waiting = position.processes
    position.processes = before
    await runProcesses(shell, position, waiting)
  }
}

/** The last first: it may write to those that were begun before it. */
export async function runProcesses(shell: Watched, position: Position, processes: readonly OutputProcess[]) {
  for (const one of processes.toReversed()) await runProcess(shell, position, one)
}

async function runProcess(shell: Watched, { outputs }: Position, { body, routes, options, pieces }: OutputProcess) {
  const step = () =>
    shell.executeCommand({ type: 'Subshell', body: body.statements, redirections: [] }, pieces.join(''), true)
  const places = [OUTPUT, ERRORS].flatMap((descriptor): [number, OutputTarget][] => {
    const place = routes.at(descriptor)
    return place === undefined ? [] : [[descriptor, place]]
  })
  const { state } = shell.ctx
  const { lastExitCode, options: set } = state
  state.options = options
  try {
    await (outputs === null ? step() : outputs.within(places, step))
  } finally {
    state.options = set
    state.lastExitCode = lastExitCode
    state.env.set('?', String(lastExitCode))
  }
}

// Output redirections in a shell with its own table (`output-routes.ts`): their targets are opened, copied or closed in
// that table, and restored after the command. Unsupported ones are left to the interpreter.

import { isFileError } from '../../../workspace/file-system.ts'
import { shellMessage } from '../interpreter-command.ts'
import { fieldsOfWord } from './expansion/braces.ts'
import { Expander } from './expansion/expander.ts'
import { ExpansionFailure } from './expansion/failure.ts'
import { processOf, processPlace, runProcesses } from './output-processes.ts'
import { CLOSED, LEFT_TO_INTERPRETER, type OutputRoutes, type OutputTarget } from './output-routes.ts'
import type { Position, Watched } from './position.ts'
import type { Command, Redirection, StepResult } from './shape.ts'
import type { OutputProcess } from './waiting-process.ts'
import { type Run, writtenText } from './words-alone.ts'

const OUTPUT = 1
const ERRORS = 2
/** The first number that bash itself assigns to descriptors. */
const FIRST_NAMED = 10
const OPENING: ReadonlySet<string> = new Set(['>', '>>', '>|', '&>', '&>>', '>&'])
const DESCRIPTOR_NAME = /^\/(?:dev|proc\/self)\/fd\/(\d+)$/
const STREAM_NAMES: Readonly<Record<string, number>> = { '/dev/stdout': OUTPUT, '/dev/stderr': ERRORS }

type Parted = { own: Redirection[]; others: Redirection[] }

/** Those for the table, and those for the interpreter. */
function parted({ ctx }: Watched, routes: OutputRoutes, redirections: readonly Redirection[]): Parted {
  const isOwn = (one: Redirection) => {
    const { operator, target } = one
    if (!OPENING.has(operator) || !('parts' in target)) return false
    if (target.parts.some(({ type }) => type === 'ProcessSubstitution')) return isProcessTarget(one)
    const source = Number(/^(\d+)-?$/.exec(target.parts.map(writtenText).join(''))?.[1] ?? -1)
    // Opened by `<>` or for reading, which the interpreter does.
    return operator !== '>&' || source < 0 || routes.at(source) !== undefined || !ctx.state.fileDescriptors?.has(source)
  }
  return { own: redirections.filter(isOwn), others: redirections.filter((one) => !isOwn(one)) }
}

type Split = { own: Redirection[]; as: Command }

/** The redirections that are made here, and the command without them. */
export function splitRedirections(shell: Watched, routes: OutputRoutes, node: Command): Split {
  if (node.type === 'FunctionDef' || node.redirections.length === 0) return { own: [], as: node }
  const { own, others } = parted(shell, routes, node.redirections)
  // Output that the interpreter redirects is in the results of the steps.
  const left = others.filter(({ operator }) => operator.includes('>') && operator !== '<>')
  return { own: [...left, ...own], as: { ...node, redirections: others } }
}

export function isProcessTarget(node: Redirection): boolean {
  return OPENING.has(node.operator) && node.operator !== '>&' && processOf(node) !== null
}

/** A function that restores the previous state when all output is written, or the error. */
export type Opened = { close: () => Promise<void> } | { failure: StepResult }

type Redirecting = { routes: OutputRoutes; run: Run; isShell?: boolean }

export class OutputRedirector {
  readonly #shell: Watched
  readonly #position: Position
  readonly #routes: OutputRoutes
  readonly #run: Run
  readonly #before = new Map<number, OutputTarget | undefined>()
  readonly #processes: OutputProcess[]

  /** `isShell`: the redirections are those of the shell itself, as `exec` makes them. */
  constructor(shell: Watched, position: Position, { routes, run, isShell = false }: Redirecting) {
    this.#processes = isShell ? position.processes : []
    this.#shell = shell
    this.#position = position
    this.#routes = routes
    this.#run = run
  }

  async open(redirections: readonly Redirection[]): Promise<Opened> {
    const restore = () => {
      for (const [descriptor, place] of this.#before) this.#routes.set(descriptor, place)
    }
    try {
      for (const one of redirections) {
        const failure = await this.#redirect(one)
        if (failure === null) continue
        restore()
        return { failure: { stdout: '', stderr: `bash: ${failure}\n`, exitCode: 1 } }
      }
    } catch (error) {
      restore()
      if (error instanceof ExpansionFailure) return { failure: error.result }
      throw error
    }
    const close = async () => {
      restore()
      await runProcesses(this.#shell, this.#position, this.#processes)
    }
    return { close }
  }

  /** Null, or the error. */
  async #redirect(node: Redirection): Promise<string | null> {
    const { operator, fd, fdVariable, target } = node
    if (!('parts' in target)) return 'a here-document is no output'
    const body = isProcessTarget(node) ? processOf(node) : null
    if (body !== null) {
      const run = { shell: this.#shell, position: this.#position, routes: this.#routes, run: this.#run }
      const place = await processPlace({ ...run, processes: this.#processes }, body, (word, sign) =>
        this.#file(word, sign),
      )
      this.#set(fd ?? OUTPUT, place)
      if (operator.startsWith('&')) this.#set(ERRORS, place)
      return null
    }
    if (!OPENING.has(operator) || target.parts.some(({ type }) => type === 'ProcessSubstitution')) {
      this.#set(fd ?? OUTPUT, LEFT_TO_INTERPRETER)
      return null
    }
    const words = await this.#words(target)
    const [word, ...more] = words
    if (word === undefined || more.length > 0) return `${target.parts.map(writtenText).join('')}: ambiguous redirect`
    if (operator === '>&' && /^(?:\d+-?|-)$/.test(word)) return this.#copy(word, fd ?? OUTPUT, fdVariable)
    const isBoth = operator.startsWith('&') || (operator === '>&' && fd === null && !fdVariable)
    if (operator === '>&' && !isBoth) return `${word}: ambiguous redirect`
    const place = await this.#file(word, operator)
    if (typeof place === 'string') return place
    if (fdVariable) this.#name(fdVariable, place)
    else this.#set(fd ?? OUTPUT, place)
    if (isBoth) this.#set(ERRORS, place)
    return null
  }

  async #words(target: Parameters<typeof fieldsOfWord>[1]): Promise<string[]> {
    const isPlain = target.parts.every((part) =>
      part.type === 'Literal'
        ? !/^~|[*?[\\]/.test(part.value)
        : part.type === 'SingleQuoted' || part.type === 'Escaped',
    )
    if (isPlain) return [target.parts.map(writtenText).join('')]
    return fieldsOfWord(new Expander(this.#shell, this.#position, this.#run), target)
  }

  #copy(word: string, fd: number, variable: string | undefined): string | null {
    if (word === '-') {
      this.#set(
        variable ? Number(this.#shell.ctx.state.env.get(variable)) : fd,
        fd <= ERRORS && !variable ? CLOSED : undefined,
      )
      return null
    }
    const source = Number(word.replace('-', ''))
    const place = this.#routes.at(source)
    if (place === undefined && this.#shell.ctx.state.fileDescriptors?.has(source)) {
      this.#set(fd, LEFT_TO_INTERPRETER)
      return null
    }
    if (place === undefined || place === CLOSED) return `${source}: Bad file descriptor`
    if (place === LEFT_TO_INTERPRETER)
      return `>&${word}: a copy of what goes into a process substitution is not available here`
    if (variable) this.#name(variable, place)
    else this.#set(fd, place)
    if (word.endsWith('-') && source !== fd) this.#set(source, undefined)
    return null
  }

  /** With the next free number, which outlasts the command. */
  #name(variable: string, place: OutputTarget): void {
    const { state } = this.#shell.ctx
    const number = this.#routes.firstFree(FIRST_NAMED, (one) => state.fileDescriptors?.has(one) ?? false)
    state.env.set(variable, String(number))
    this.#routes.set(number, place)
  }

  #set(descriptor: number, place: OutputTarget | undefined): void {
    if (!this.#before.has(descriptor)) this.#before.set(descriptor, this.#routes.at(descriptor))
    this.#routes.set(descriptor, place)
  }

  /** The file at the path, truncated unless the operator appends, or why it cannot be written. */
  async #file(word: string, operator: string): Promise<OutputTarget | string> {
    const number = DESCRIPTOR_NAME.exec(word)?.[1] ?? STREAM_NAMES[word]
    if (number !== undefined) return this.#routes.at(Number(number)) ?? `${word}: No such file or directory`
    if (word === '') return ': No such file or directory'
    const { ctx } = this.#shell
    const path = ctx.fs.resolvePath(ctx.state.cwd, word)
    try {
      const isThere = await ctx.fs.exists(path)
      const stat = isThere ? await ctx.fs.stat(path) : null
      if (stat?.isDirectory) return `${word}: Is a directory`
      const isDevice = path.startsWith('/dev/')
      if (stat && !/>>|\|$/.test(operator) && ctx.state.options.noclobber && !isDevice)
        return `${word}: cannot overwrite existing file`
      if (operator.endsWith('>>')) await ctx.fs.appendFile(path, '', 'binary')
      else await ctx.fs.writeFile(path, '', 'binary')
    } catch (error) {
      if (!isFileError(error)) throw error
      return `${word}: ${shellMessage(error)}`
    }
    return this.#position.watch.unwritten.file((bytes) => ctx.fs.appendFile(path, bytes, 'binary'))
  }
}

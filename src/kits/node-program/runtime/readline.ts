// `node:readline` inside the isolate, for input that is there or ends: there is no terminal.

import { EventEmitter } from 'node:events'
import { StringDecoder } from 'node:string_decoder'
import { withCode } from './errors.ts'
import { process } from './process.ts'

type Input = EventEmitter & { resume(): unknown; pause(): unknown }
type Output = { write(text: string): unknown }
type Options = { input: Input; output?: Output | undefined; prompt?: string }
type Answered = (line: string) => void
type ListenerArguments = Parameters<EventEmitter['on']>

const LINE_ENDS = /\r\n|[\n\r\u2028\u2029]/
const isFunction = (given: unknown): given is Answered => typeof given === 'function'
const optionsOf = (input: Input | Options, output?: Output): Options => ('input' in input ? input : { input, output })

export class Interface extends EventEmitter {
  readonly input: Input
  readonly output: Output | undefined
  closed = false
  readonly terminal = false
  readonly line = ''
  readonly history: string[] = []
  #rest = ''
  #waiting: Answered[] = []
  #lines: string[] = []
  #prompt: string
  #decoder = new StringDecoder('utf8')
  #afterReturn = false

  constructor(input: Input | Options, output?: Output) {
    super()
    const options = optionsOf(input, output)
    this.input = options.input
    this.output = options.output
    this.#prompt = options.prompt ?? '> '
    this.input.on('data', (chunk: string | Buffer) =>
      this.#take(typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)),
    )
    this.input.on('end', () => {
      if (this.#rest !== '') this.#line(this.#rest)
      this.#rest = ''
      this.close()
    })
    this.input.resume()
  }

  #take(text: string): void {
    const given = this.#afterReturn && text.startsWith('\n') ? text.slice(1) : text
    if (text !== '') this.#afterReturn = text.endsWith('\r')
    const lines = (this.#rest + given).split(LINE_ENDS)
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#line(line)
  }
  #line(line: string): void {
    if (this.closed) return
    const asked = this.#waiting.shift()
    if (asked) asked(line)
    else {
      this.#lines.push(line)
      if (this.listenerCount('line') > 0) this.#give()
    }
  }
  #give(): void {
    for (const line of this.#lines.splice(0)) this.emit('line', line)
  }

  override on(...[name, run]: ListenerArguments): this {
    super.on(name, run)
    if (name === 'line' && this.#lines.length > 0) queueMicrotask(() => this.#give())
    return this
  }
  override addListener(...given: ListenerArguments): this {
    return this.on(...given)
  }
  question(query: string, options?: unknown, callback: unknown = options): void {
    if (this.closed) throw withCode(new Error('readline was closed'), 'ERR_USE_AFTER_CLOSE')
    this.output?.write(query)
    const answered: Answered = (line) => {
      if (isFunction(callback)) callback(line)
    }
    const line = this.#lines.shift()
    if (line === undefined) this.#waiting.push(answered)
    else queueMicrotask(() => answered(line))
  }
  setPrompt(prompt: string): void {
    this.#prompt = prompt
  }
  getPrompt(): string {
    return this.#prompt
  }
  prompt(): void {
    this.output?.write(this.#prompt)
  }
  write(text: unknown): void {
    if (text) this.#take(String(text))
  }
  pause(): this {
    this.input.pause()
    this.emit('pause')
    return this
  }
  resume(): this {
    this.input.resume()
    this.emit('resume')
    return this
  }
  close(): void {
    if (this.closed) return
    this.closed = true
    this.emit('close')
  }
  [Symbol.dispose](): void {
    this.close()
  }
  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    const end = new Promise<null>((resolve) => this.once('close', () => resolve(null)))
    for (;;) {
      const line = this.#lines.shift() ?? (this.closed ? null : await Promise.race([this.#next(), end]))
      if (line === null) return
      yield line
    }
  }
  #next(): Promise<string> {
    return new Promise((resolve) => void this.#waiting.push(resolve))
  }
}

class AskingInterface extends Interface {
  override question(query: string, options: unknown = {}): Promise<string> {
    return new Promise((resolve) => super.question(query, options, resolve))
  }
}

/** What would move a cursor: nothing is written, and who waits for it is told. */
function toTerminal(stream?: Output, ...args: unknown[]): boolean {
  stream?.write('')
  const done = args.findLast((given): given is () => void => typeof given === 'function')
  done?.()
  return true
}

/** `node:readline/promises`. */
export const promises = {
  Interface: AskingInterface,
  createInterface: (input: Input | Options, output?: Output) => new AskingInterface(input, output),
}

export const readline = {
  Interface,
  createInterface: (input: Input | Options, output?: Output) => new Interface(input, output),
  promises,
  clearLine: toTerminal,
  cursorTo: toTerminal,
  moveCursor: toTerminal,
  clearScreenDown: toTerminal,
  emitKeypressEvents() {
    if (process.stdin?.isTTY) throw new Error('There is no terminal here')
  },
}

// `node:readline` inside the isolate, for input that is there or ends: there is no terminal. The text of a module.

export const READLINE_MODULE = String.raw`
import { EventEmitter } from 'node:events'
import { StringDecoder } from 'node:string_decoder'
import { process } from '/bellwether/process.js'

export class Interface extends EventEmitter {
  #rest = ''
  #waiting = []
  #lines = []
  #prompt = '> '
  #decoder = new StringDecoder('utf8')
  #afterReturn = false
  constructor(input, output) {
    super()
    const options = input?.input ? input : { input, output }
    Object.assign(this, { input: options.input, output: options.output, closed: false, terminal: false, line: '', history: [] })
    if (options.prompt !== undefined) this.#prompt = options.prompt
    this.input.on('data', (chunk) => this.#take(typeof chunk === 'string' ? chunk : this.#decoder.write(chunk)))
    this.input.on('end', () => { if (this.#rest !== '') this.#line(this.#rest); this.#rest = ''; this.close() })
    this.input.resume()
  }
  #take(text) {
    let given = this.#afterReturn && text.startsWith('\n') ? text.slice(1) : text
    if (text !== '') this.#afterReturn = text.endsWith('\r')
    const lines = (this.#rest + given).split(/\r\n|[\n\r\u2028\u2029]/)
    this.#rest = lines.pop()
    for (const line of lines) this.#line(line)
  }
  #line(line) {
    if (this.closed) return
    const asked = this.#waiting.shift()
    if (asked) asked(line)
    else { this.#lines.push(line); if (this.listenerCount('line') > 0) this.#give() }
  }
  #give() { for (const line of this.#lines.splice(0)) this.emit('line', line) }
  on(name, run) { super.on(name, run); if (name === 'line' && this.#lines.length > 0) queueMicrotask(() => this.#give()); return this }
  addListener(name, run) { return this.on(name, run) }
  question(query, options, answered = options) {
    if (this.closed) throw Object.assign(new Error('readline was closed'), { code: 'ERR_USE_AFTER_CLOSE' })
    this.output?.write(query)
    const line = this.#lines.shift()
    if (line === undefined) this.#waiting.push(answered)
    else queueMicrotask(() => answered(line))
  }
  setPrompt(prompt) { this.#prompt = prompt }
  getPrompt() { return this.#prompt }
  prompt() { this.output?.write(this.#prompt) }
  write(text) { if (text) this.#take(String(text)) }
  pause() { this.input.pause(); this.emit('pause'); return this }
  resume() { this.input.resume(); this.emit('resume'); return this }
  close() { if (this.closed) return; this.closed = true; this.emit('close') }
  [Symbol.dispose]() { this.close() }
  async *[Symbol.asyncIterator]() {
    const end = new Promise((resolve) => this.once('close', () => resolve(null)))
    for (;;) {
      const line = this.#lines.shift() ?? (this.closed ? null : await Promise.race([new Promise((resolve) => this.#waiting.push((one) => resolve({ one }))), end]))
      if (line === null) return
      yield typeof line === 'string' ? line : line.one
    }
  }
}
const createInterface = (input, output) => new Interface(input, output)
const toTerminal = (text) => (stream, ...args) => { stream?.write(text); const done = args.findLast((one) => typeof one === 'function'); done?.(); return true }
class AskingInterface extends Interface {
  question(query, options) { return new Promise((resolve) => super.question(query, options ?? {}, resolve)) }
}
export const promises = { Interface: AskingInterface, createInterface: (input, output) => new AskingInterface(input, output) }
export default { Interface, createInterface, promises, clearLine: toTerminal(''), cursorTo: toTerminal(''), moveCursor: toTerminal(''), clearScreenDown: toTerminal(''), emitKeypressEvents() { if (process.stdin.isTTY) throw new Error('There is no terminal here') } }
`

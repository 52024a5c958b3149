// Drives a model without tool calls: the tools are described in the prompt, and the answer is parsed into calls.
// Callers see no difference.

import type {
  AskOptions,
  LanguageModel,
  ModelDelta,
  ModelReply,
  Prompt,
  PromptMessage,
  PromptPart,
  ToolCall,
  ToolSpec,
} from './model.ts'

// The text form of a tool call for such models, and its parser. The parser passes streamed text on at once; text that
// may be the beginning of a call is held back, so no markup is ever shown.

const OPEN = '<tool_call name="'
const CLOSE = '</tool_call>'

const STOP_NOTE = 'After your calls, stop: the results come in the next message. Never write a result yourself.'

/** A call in the form that the model must write, and in which it sees its earlier ones. */
export function callText({ name, arguments: text }: Pick<ToolCall, 'name' | 'arguments'>): string {
  return `${OPEN}${name}">\n${text}\n${CLOSE}`
}

/** Some models write the name as JSON with the arguments, as they were trained to. */
const TRAINED_OPEN = '<tool_call>'
const OPENINGS = [OPEN, TRAINED_OPEN]

class MarkupReader {
  readonly #onDelta: (delta: ModelDelta) => void
  #held = ''
  #inside: { named: boolean; index: number; id: string } | null = null
  #text = ''
  readonly calls: ToolCall[] = []

  constructor(onDelta: (delta: ModelDelta) => void) {
    this.#onDelta = onDelta
  }

  /** The model's text without its calls. */
  get text(): string {
    return this.#text.trimEnd()
  }

  push(piece: string): void {
    this.#held += piece
    while (this.#inside === null ? this.#readText() : this.#readCall());
  }

  /** The model stopped: held-back text is ordinary text, or a call without its end. */
  end(): void {
    if (this.#inside === null) this.#say(this.#held)
    else this.#settle(this.#held)
    this.#held = ''
  }

  /** Passes on what is certainly text. True when a call begins. */
  #readText(): boolean {
    const found = OPENINGS.map((opening) => ({ opening, at: this.#held.indexOf(opening) }))
      .filter(({ at }) => at !== -1)
      .sort((one, other) => one.at - other.at)[0]
    if (found === undefined) {
      const certain = this.#held.length - heldBack(this.#held)
      this.#say(this.#held.slice(0, certain))
      this.#held = this.#held.slice(certain)
      return false
    }
    this.#say(this.#held.slice(0, found.at).trimEnd())
    this.#held = this.#held.slice(found.at + found.opening.length)
    const index = this.calls.length
    this.#inside = { named: found.opening === OPEN, index, id: `call_${index + 1}` }
    return true
  }

  /** True when the call is complete. */
  #readCall(): boolean {
    const end = this.#held.indexOf(CLOSE)
    if (end === -1) return false
    this.#settle(this.#held.slice(0, end))
    this.#held = this.#held.slice(end + CLOSE.length)
    return true
  }

  #settle(written: string): void {
    const inside = this.#inside
    this.#inside = null
    if (inside === null) return
    const { name, text } = inside.named ? namedCall(written) : trainedCall(written)
    this.calls.push({ id: inside.id, name, arguments: text })
    this.#onDelta({ kind: 'call', index: inside.index, id: inside.id, name, text })
  }

  #say(text: string): void {
    // Text between two calls, or after the last one, has no meaning.
    if (text === '' || (this.calls.length > 0 && text.trim() === '')) return
    this.#text += text
    this.#onDelta({ kind: 'text', text })
  }
}

/** The number of characters at the end that may begin a call, including blanks before it. */
function heldBack(text: string): number {
  let longest = 0
  for (const opening of OPENINGS) {
    for (let length = Math.min(opening.length - 1, text.length); length > longest; length--) {
      if (text.endsWith(opening.slice(0, length))) longest = length
    }
  }
  const before = text.slice(0, text.length - longest)
  return longest + (before.length - before.trimEnd().length)
}

function namedCall(written: string): { name: string; text: string } {
  const quote = written.indexOf('"')
  const bracket = written.indexOf('>', quote)
  if (quote === -1 || bracket === -1) return { name: written.trim().slice(0, 64), text: '' }
  return { name: written.slice(0, quote), text: withoutFence(written.slice(bracket + 1)) }
}

function trainedCall(written: string): { name: string; text: string } {
  const text = withoutFence(written)
  try {
    const value = JSON.parse(text) as { name?: unknown; arguments?: unknown; parameters?: unknown }
    const given = value.arguments ?? value.parameters ?? {}
    const name = typeof value.name === 'string' ? value.name : ''
    return { name, text: typeof given === 'string' ? given : JSON.stringify(given) }
  } catch {
    // The tool step tells the model that this is not JSON.
    return { name: /"name"\s*:\s*"([^"]{1,64})"/.exec(text)?.[1] ?? '', text }
  }
}

const withoutFence = (text: string): string =>
  text
    .trim()
    .replace(/^```[a-z]*\s*\n?/, '')
    .replace(/\n?```$/, '')
    .trim()

export function promptedModel(inner: LanguageModel): LanguageModel {
  return {
    id: inner.id,
    contextWindow: inner.contextWindow,
    seesImages: inner.seesImages,
    ask: (prompt, options = {}) =>
      prompt.tools.length === 0 ? inner.ask(toolless(prompt), options) : ask(inner, prompt, options),
  }
}

async function ask(inner: LanguageModel, prompt: Prompt, options: AskOptions): Promise<ModelReply> {
  const reader = new MarkupReader((delta) => options.onDelta?.(delta))
  const onDelta = (delta: ModelDelta) => {
    if (delta.kind === 'text') reader.push(delta.text)
    else if (delta.kind === 'reasoning') options.onDelta?.(delta)
  }
  const reply = await inner.ask(toolless(prompt), { ...options, onDelta })
  reader.end()
  const calls = reader.calls
  return { ...reply, text: reader.text, calls, finish: calls.length > 0 ? 'calls' : reply.finish }
}

/** The same conversation for a model without tool calls. */
export function toolless(prompt: Prompt): Prompt {
  const system = prompt.tools.length === 0 ? prompt.system : `${prompt.system}\n\n${manual(prompt.tools)}`.trim()
  const messages: PromptMessage[] = []
  for (const message of prompt.messages) {
    if (message.role === 'assistant') {
      const text = [message.text, ...message.calls.map(callText)].filter((part) => part !== '').join('\n\n')
      messages.push({ role: 'assistant', text, calls: [] })
    } else if (message.role === 'user') pushUser(messages, message.content)
    else pushUser(messages, resultParts(message))
  }
  return { system, messages, tools: [] }
}

/** Models of this kind often require alternating turns. */
function pushUser(messages: PromptMessage[], content: readonly PromptPart[]): void {
  const last = messages.at(-1)
  if (last?.role === 'user') messages[messages.length - 1] = { role: 'user', content: [...last.content, ...content] }
  else messages.push({ role: 'user', content })
}

function resultParts({ name, content }: Extract<PromptMessage, { role: 'tool' }>): PromptPart[] {
  return [{ type: 'text', text: `Result of ${name}:` }, ...content]
}

function manual(tools: readonly ToolSpec[]): string {
  const described = tools.map(
    ({ name, description, parameters }) =>
      `## ${name}\n${description}\nArguments (JSON Schema): ${JSON.stringify(parameters)}`,
  )
  return [
    '# Tools',
    'You work with the tools below. To use one, write a call in exactly this form, the arguments as one JSON object:',
    callText({ name: 'tool_name', arguments: '{"argument": "value"}' }),
    `Write your thoughts before the calls. ${STOP_NOTE} When you need no tool, answer in plain text without a call.`,
    ...described,
  ].join('\n\n')
}

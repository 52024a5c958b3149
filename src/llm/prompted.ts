// Drives a model that cannot call tools by itself: the tools are described in the prompt, and the answer is parsed back
// into calls. Callers cannot tell the difference.

import type {
  AskOptions,
  LanguageModel,
  ModelDelta,
  ModelReply,
  Prompt,
  PromptMessage,
  PromptPart,
  ToolSpec,
} from './model.ts'
import { callText, MarkupReader, STOP_NOTE } from './prompted-markup.ts'

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

/** The same conversation for a model that knows nothing of tools. */
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

/** Models of this kind often insist on turns that alternate. */
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

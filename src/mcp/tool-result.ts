// The stored result of a tool: one JSON text, limited in all its parts.

import { z } from 'zod'

/** For the text of all parts together; of a longer text the middle is left out. */
export const MAX_TEXT_CHARS = 30_000
/** Base64 of all images, sounds and files together; what exceeds it is left out and named. */
export const MAX_BINARY_CHARS = 3_000_000
const MAX_PARTS = 100
const MAX_FIELD_CHARS = 2_000

const field = z.string().transform((text) => text.slice(0, MAX_FIELD_CHARS))
const base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/)
const mimeType = z
  .string()
  .regex(/^[\w.+-]+\/[\w.+-]+(;[\x20-\x7e]*)?$/)
  .max(200)

const Resource = z.union([
  z.object({ uri: field, mimeType: field.nullish(), text: z.string() }),
  z.object({ uri: field, mimeType: field.nullish(), blob: base64 }),
])

/** One part of a result. Keys that the protocol adds later are ignored. */
export const ContentPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: base64, mimeType }),
  z.object({ type: z.literal('audio'), data: base64, mimeType }),
  z.object({ type: z.literal('resource'), resource: Resource }),
  z.object({
    type: z.literal('resource_link'),
    uri: field,
    name: field,
    description: field.nullish(),
    mimeType: field.nullish(),
  }),
])
export type ContentPart = z.infer<typeof ContentPart>

/** The answers to a call in every version of the protocol. */
export const CallResult = z.looseObject({
  content: z.array(z.unknown()).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().nullish(),
})
export type CallResult = z.infer<typeof CallResult>

export type ToolResult = { readonly meta: null; readonly content: readonly ContentPart[]; readonly isError: boolean }

export function resultOf(answer: CallResult): ToolResult {
  const budget = new Budget()
  const content = answer.content.slice(0, MAX_PARTS).map((raw) => budget.fit(raw))
  const leftOut = answer.content.length - content.length
  if (leftOut > 0) content.push(text(`[${leftOut} more parts left out]`))
  // Without text the structured content would not be readable, so it is added as text.
  if (content.length === 0 && answer.structuredContent !== undefined) {
    content.push(budget.fit(text(JSON.stringify(answer.structuredContent))))
  }
  return { meta: null, content, isError: answer.isError === true }
}

export function errorResult(message: string): ToolResult {
  return { meta: null, content: [text(`Error: ${message}`)], isError: true }
}

const Stored = z.object({ content: z.array(ContentPart), isError: z.boolean() })

/** The parts of a stored result; null for a text that is not one. */
export function readResult(json: string): { content: ContentPart[]; isError: boolean } | null {
  try {
    return Stored.parse(JSON.parse(json))
  } catch {
    // A stored observation may come from elsewhere (a replayed trajectory); the caller shows it unchanged.
    return null
  }
}

function text(content: string): ContentPart {
  return { type: 'text', text: content }
}

class Budget {
  #textLeft = MAX_TEXT_CHARS
  #binaryLeft = MAX_BINARY_CHARS

  fit(raw: unknown): ContentPart {
    const { success, data: part } = ContentPart.safeParse(raw)
    if (!success) return text('[a part of a kind that is not known here]')
    switch (part.type) {
      case 'text':
        return text(this.#cut(part.text))
      case 'image':
      case 'audio':
        return this.#fits(part.data) ? part : text(leftOut(part.mimeType, part.data))
      case 'resource':
        return this.#resource(part)
      case 'resource_link':
        return part
    }
  }

  #resource(part: Extract<ContentPart, { type: 'resource' }>): ContentPart {
    const { resource } = part
    if ('text' in resource) return { ...part, resource: { ...resource, text: this.#cut(resource.text) } }
    if (this.#fits(resource.blob)) return part
    return text(`${resource.uri}: ${leftOut(resource.mimeType ?? 'file', resource.blob)}`)
  }

  #fits(data: string): boolean {
    if (data.length > this.#binaryLeft) return false
    this.#binaryLeft -= data.length
    return true
  }

  #cut(content: string): string {
    const kept = content.length <= this.#textLeft ? content : withoutMiddle(content, this.#textLeft)
    this.#textLeft = Math.max(0, this.#textLeft - content.length)
    return kept
  }
}

function withoutMiddle(content: string, chars: number): string {
  const half = Math.floor(chars / 2)
  const end = half === 0 ? '' : content.slice(-half)
  return `${content.slice(0, half)}\n[... ${content.length - 2 * half} characters left out ...]\n${end}`
}

function leftOut(kind: string, data: string): string {
  return `[${kind} of ${Math.floor((data.length * 3) / 4)} bytes left out: it is too large]`
}

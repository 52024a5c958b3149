// No value of a secret remains in what is stored, sent or logged. A value is searched for as it is and in the forms in
// which it is transmitted: inside JSON, percent-encoded, in base64. Nearly all texts contain none, so a single search
// in the serialised text decides that first.

import { bytesToText } from '../workspace/text-encodings.ts'

export const HIDDEN = '<secret_hidden>'

/** A shorter value occurs in nearly every text: masking it would make texts unreadable and protect nothing. */
const MIN_LENGTH = 4

/** Shorter values are masked as they are; their encoded forms occur in too many other texts. */
const MIN_ENCODED_LENGTH = 6

/**
 * Each line of a multi-line value can be shown alone, for example by `tail`, so it is masked alone. Shorter lines occur
 * in too many other texts.
 */
const MIN_LINE_LENGTH = 16

export class Mask {
  /** Longest first, so that no part remains of a value that contains another one. */
  readonly #forms: readonly string[]
  readonly #formsInJson: readonly string[]
  /** The forms by their first character, longest first. */
  readonly #byStart = new Map<string, string[]>()

  /** Values that are too short to be masked are ignored. */
  constructor(values: Iterable<string>) {
    const forms = new Set([...values].filter(({ length }) => length >= MIN_LENGTH).flatMap(formsOf))
    this.#forms = [...forms].sort((a, b) => b.length - a.length)
    this.#formsInJson = [...new Set(this.#forms.map(inJson))]
    for (const form of this.#forms) {
      const start = form.charAt(0)
      const alike = this.#byStart.get(start)
      if (alike === undefined) this.#byStart.set(start, [form])
      else alike.push(form)
    }
  }

  get isEmpty(): boolean {
    return this.#forms.length === 0
  }

  /**
   * Replaces the leftmost form first; of two at the same position, the longer. Without a regular expression, because a
   * long value would make one that is too large, and its error message would quote the value.
   */
  text(text: string): string {
    let ahead = this.#forms.flatMap((form) => placeOf(form, text, 0))
    if (ahead.length === 0) return text
    let masked = ''
    let from = 0
    while (ahead.length > 0) {
      const { form, at } = ahead.reduce((first, other) => (other.at < first.at ? other : first))
      masked += text.slice(from, at) + HIDDEN
      from = at + form.length
      ahead = ahead.flatMap((place) => (place.at >= from ? place : placeOf(place.form, text, from)))
    }
    return masked + text.slice(from)
  }

  /** Whether the JSON text of a value contains nothing to mask. */
  isCleanJson(json: string): boolean {
    return !this.#formsInJson.some((form) => json.includes(form))
  }

  /** The event with every text in it masked; the same object when nothing was masked. */
  event<T extends object>(event: T): T {
    if (this.isEmpty || this.isCleanJson(JSON.stringify(event))) return event
    return this.#value(event, { isFree: false }) as T
  }

  /** Masks a text that comes in pieces, even if a secret is split between two pieces. */
  stream(): MaskedStream {
    return new MaskedStream(() => this)
  }

  /** The first position, after the last complete form, from which the rest is the beginning of a form. */
  openEnd(text: string): number {
    const longest = this.#forms[0]?.length ?? 0
    for (let from = Math.max(0, text.length - longest + 1); from < text.length; from++) {
      if (this.#isBeginning(text, from)) return this.#beforeWhole(text, from)
    }
    return text.length
  }

  #isBeginning(text: string, from: number): boolean {
    const length = text.length - from
    const alike = this.#byStart.get(text.charAt(from)) ?? []
    const shorter = alike.findIndex((form) => form.length <= length)
    const longer = shorter < 0 ? alike : alike.slice(0, shorter)
    if (longer.length === 0) return false
    const rest = text.slice(from)
    return longer.some((form) => form.startsWith(rest))
  }

  /** Moves the cut so that it does not split a complete form. */
  #beforeWhole(text: string, cut: number): number {
    let from = cut
    for (let before = text.length; from < before && from > 0; ) {
      before = from
      for (const form of this.#forms) {
        const at = from === 0 ? -1 : text.lastIndexOf(form, from - 1)
        if (at >= 0 && at + form.length > from) from = at
      }
    }
    return from
  }

  #value(value: unknown, place: { isFree: boolean }): unknown {
    if (typeof value === 'string') return this.text(value)
    if (typeof value === 'number') return this.#number(value, place)
    if (Array.isArray(value)) return value.map((item) => this.#value(item, place))
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([key, item]) => {
      if (!place.isFree && STRUCTURE.has(key) && typeof item === 'string') return [key, item] as const
      const isPlain = !place.isFree && SHAPE.has(key)
      const inside = { isFree: place.isFree || FREE.has(key) }
      return [isPlain ? key : this.text(key), this.#value(item, inside)] as const
    })
    return Object.fromEntries(entries)
  }

  /** A number from a model or a server can be a secret without its quotes. */
  #number(value: number, { isFree }: { isFree: boolean }): unknown {
    return isFree && this.#forms.includes(String(value)) ? HIDDEN : value
  }
}

/** Members whose values this service chooses; masking them would make the event unreadable for programs. */
const STRUCTURE: ReadonlySet<string> = new Set([
  'action',
  'observation',
  'source',
  'timestamp',
  'agent_state',
  'recall_type',
  'confirmation_state',
  'impl_source',
])

/** The known keys of events. Any other key comes from a model or a server, and can contain a secret. */
const SHAPE: ReadonlySet<string> = new Set(
  `id timestamp source message cause action args observation content extras success timeout tool_call_metadata llm_metrics
  function_name tool_call_id model_response total_calls_in_response accumulated_cost max_budget_per_task
  accumulated_token_usage model prompt_tokens completion_tokens cache_read_tokens cache_write_tokens context_window
  per_turn_token response_id costs response_latencies token_usages file_urls image_urls wait_for_response tools
  agent_class type function name description parameters command is_input thought blocking is_static cwd hidden
  confirmation_state security_risk code include_extra url return_axtree path start end impl_source view_range file_text
  old_str new_str insert_line browser_actions browsergym_send_msg_to_user arguments final_thought outputs recall_type query agent_state forgotten_event_ids
  forgotten_events_start_id forgotten_events_end_id summary summary_offset metadata exit_code pid username hostname
  working_dir py_interpreter_path prefix suffix trigger_by_action screenshot set_of_marks error goal_image_urls
  open_pages_urls active_page_index dom_object axtree_object extra_element_properties last_browser_action
  last_browser_action_error focused_element_bid filter_visible_only file_path prev_exist old_content new_content diff
  error_id repo_name repo_directory repo_branch repo_instructions runtime_hosts additional_agent_instructions date
  custom_secrets_descriptions conversation_instructions microagent_knowledge trigger reason`.split(/\s+/),
)

/** Members whose content comes from a model or a server. */
const FREE: ReadonlySet<string> = new Set(['arguments', 'outputs', 'inputs', 'parameters', 'extra'])

export class MaskedStream {
  readonly #mask: () => Mask
  #held = ''

  /** `mask` is called for each piece: a new secret is masked from the next piece on. */
  constructor(mask: () => Mask) {
    this.#mask = mask
  }

  /** The text that can be shown now: an end that may be the beginning of a secret is held back. */
  push(piece: string): string {
    const mask = this.#mask()
    const all = this.#held + piece
    const from = mask.openEnd(all)
    this.#held = all.slice(from)
    return mask.text(all.slice(0, from))
  }

  end(): string {
    const rest = this.#held
    this.#held = ''
    return this.#mask().text(rest)
  }
}

function placeOf(form: string, text: string, from: number): { form: string; at: number }[] {
  const at = text.indexOf(form, from)
  return at < 0 ? [] : [{ form, at }]
}

function formsOf(value: string): string[] {
  const forms = [...plainForms(value), ...linesOf(value).flatMap(plainForms)]
  if (value.length < MIN_ENCODED_LENGTH) return forms
  const url = encodeURIComponent(value.toWellFormed())
  const bytes = new TextEncoder().encode(value)
  const encoded = [
    url,
    url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    // As an HTML form encodes it.
    new URLSearchParams({ v: value }).toString().slice(2),
    new URL(`http://h/?${value.replaceAll('#', '%23')}`).search.slice(1),
    ...base64Forms(bytes),
    bytesToText(bytes, 'hex'),
    bytesToText(bytes, 'hex').toUpperCase(),
  ]
  // The URL parser drops line ends, so the shortened form could occur in any text.
  return [...forms, ...encoded.filter((form) => form.length >= value.length)]
}

/** As it is, inside a JSON text, inside JSON within JSON, and with all non-ASCII characters escaped. */
function plainForms(value: string): string[] {
  const json = inJson(value)
  const escaped = [json, inAscii(json, 'lower'), inAscii(json, 'upper')]
  return [value, ...escaped, ...escaped.map(inJson)]
}

/** The lines that identify the value: the border lines of a PEM key are the same in all keys. */
function linesOf(value: string): string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim())
  if (lines.length < 2) return []
  const isTelling = (line: string) => /[\p{L}\p{N}]/u.test(line) && !/^-----(BEGIN|END) [A-Z0-9 ]+-----$/.test(line)
  return lines.filter((line) => line.length >= MIN_LINE_LENGTH && isTelling(line))
}

/** With `\uXXXX` for non-ASCII characters, as `jq -a` and many libraries write it. */
function inAscii(json: string, digits: 'lower' | 'upper'): string {
  return json.replace(/\\(?:u[0-9a-f]{4}|.)|[^\0-\x7f]/g, (part) => {
    // `\n` and its like.
    if (part.length === 2) return part
    const code = part.length === 1 ? part.charCodeAt(0).toString(16).padStart(4, '0') : part.slice(2)
    return `\\u${digits === 'upper' ? code.toUpperCase() : code}`
  })
}

/** The value as it appears between the quotes of a JSON text. */
function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/**
 * In base64 a value looks different for each of the three offsets at which it can begin among other bytes, as in
 * `user:secret`. The digits that depend on bytes before and after it are left out. See RFC 4648, section 4.
 */
function base64Forms(bytes: Uint8Array): string[] {
  const whole = [bytesToText(bytes, 'base64'), bytesToText(bytes, 'base64').replace(/=+$/, '')]
  const inside = [0, 1, 2].map((before) => {
    const padded = new Uint8Array(before + bytes.length)
    padded.set(bytes, before)
    const digits = bytesToText(padded, 'base64').replace(/=+$/, '')
    const first = before === 0 ? 0 : before + 1
    const isOpen = padded.length % 3 !== 0
    return digits.slice(first, isOpen ? -1 : undefined)
  })
  const standard = [...whole, ...inside]
  return [...standard, ...standard.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
}

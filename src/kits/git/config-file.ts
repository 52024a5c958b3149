// git's configuration files. Values are only data: nothing in them starts a program, includes another file or sends a
// request, except to a remote's own URL.

export interface Setting {
  /** Section and name in lower case, the part between them as written: `branch.Feature-1.merge`. */
  key: string
  value: string
}

type Line = { raw: string; section: string | null; setting: Setting | null }

export class ConfigFile {
  readonly #lines: Line[]

  constructor(text: string) {
    this.#lines = linesOf(text)
  }

  get settings(): Setting[] {
    return this.#lines.flatMap(({ setting }) => setting ?? [])
  }

  getAll(key: string): string[] {
    const wanted = canonicalKey(key)
    return this.settings.filter((setting) => setting.key === wanted).map(({ value }) => value)
  }

  get(key: string): string | null {
    return this.getAll(key).at(-1) ?? null
  }

  /** Replaces the value, or adds it to the end of its section. With `add`, the existing values stay. */
  set(key: string, value: string, { add = false } = {}): void {
    const wanted = canonicalKey(key)
    const setting = { key: wanted, value }
    const name = wanted.slice(wanted.lastIndexOf('.') + 1)
    const line: Line = { raw: `\t${name} = ${quotedValue(value)}`, section: null, setting }
    const at = add ? -1 : this.#lines.findLastIndex((other) => other.setting?.key === wanted)
    if (at >= 0) {
      this.#lines[at] = line
      return
    }
    const section = wanted.slice(0, wanted.lastIndexOf('.'))
    if (!this.#lines.some((other) => other.section === section)) {
      this.#lines.push({ raw: sectionHeader(section), section, setting: null })
    }
    this.#lines.splice(this.#endOf(section), 0, line)
  }

  /** Returns the number of removed values. */
  unset(key: string): number {
    const wanted = canonicalKey(key)
    return this.#drop(({ setting }) => setting?.key === wanted)
  }

  removeSection(section: string): number {
    const wanted = canonicalSection(section)
    return this.#drop((line) => line.section === wanted || this.#sectionOf(line) === wanted)
  }

  renameSection(from: string, to: string): void {
    const [before, after] = [canonicalSection(from), canonicalSection(to)]
    for (const line of this.#lines) {
      if (line.section === before) Object.assign(line, { section: after, raw: sectionHeader(after) })
      else if (line.setting?.key.startsWith(`${before}.`) && this.#sectionOf(line) === before) {
        line.setting.key = after + line.setting.key.slice(before.length)
      }
    }
  }

  format(): string {
    return this.#lines.map(({ raw }) => `${raw}\n`).join('')
  }

  #sectionOf({ setting }: Line): string | null {
    return setting ? setting.key.slice(0, setting.key.lastIndexOf('.')) : null
  }

  #endOf(section: string): number {
    const start = this.#lines.findLastIndex((line) => line.section === section)
    const next = this.#lines.findIndex((line, i) => i > start && line.section !== null)
    return next < 0 ? this.#lines.length : next
  }

  #drop(isDropped: (line: Line) => boolean): number {
    const before = this.settings.length
    const kept = this.#lines.filter((line) => !isDropped(line))
    this.#lines.splice(0, this.#lines.length, ...withoutEmptySections(kept, this.#lines))
    return before - this.settings.length
  }
}

/** A section that became empty is removed too. */
function withoutEmptySections(kept: Line[], before: readonly Line[]): Line[] {
  const hadSettings = new Set(before.flatMap(({ setting }) => (setting ? [setting.key.replace(/\.[^.]*$/, '')] : [])))
  const hasSettings = new Set(kept.flatMap(({ setting }) => (setting ? [setting.key.replace(/\.[^.]*$/, '')] : [])))
  return kept.filter(({ section }) => section === null || !hadSettings.has(section) || hasSettings.has(section))
}

export function isKey(key: string): boolean {
  return /^[A-Za-z][A-Za-z0-9-]*\.(?:[^\n]*\.)?[A-Za-z][A-Za-z0-9-]*$/.test(key)
}

export function canonicalKey(key: string): string {
  const last = key.lastIndexOf('.')
  return `${canonicalSection(key.slice(0, last))}.${key.slice(last + 1).toLowerCase()}`
}

function canonicalSection(section: string): string {
  const dot = section.indexOf('.')
  return dot < 0 ? section.toLowerCase() : section.slice(0, dot).toLowerCase() + section.slice(dot)
}

function sectionHeader(section: string): string {
  const dot = section.indexOf('.')
  if (dot < 0) return `[${section}]`
  return `[${section.slice(0, dot)} "${section.slice(dot + 1).replace(/[\\"]/g, '\\$&')}"]`
}

function linesOf(text: string): Line[] {
  const lines: Line[] = []
  let section = ''
  const raws = text.replace(/\n$/, '').split('\n')
  if (text === '') return lines
  for (let i = 0; i < raws.length; i++) {
    let raw = raws[i] ?? ''
    while (/(^|[^\\])(\\\\)*\\$/.test(raw) && i + 1 < raws.length) raw += `\n${raws[++i] ?? ''}`
    const header = /^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)$/s.exec(raw)
    if (header) {
      const sub = header[2] === undefined ? '' : `.${header[2].replace(/\\(.)/g, '$1')}`
      section = header[2] === undefined ? (header[1] ?? '').toLowerCase() : (header[1] ?? '').toLowerCase() + sub
      const setting = settingOf(section, header[3] ?? '')
      lines.push({ raw: setting ? sectionHeader(section) : raw, section, setting: null })
      if (setting) lines.push({ raw: `\t${header[3]}`, section: null, setting })
    } else {
      lines.push({ raw, section: null, setting: settingOf(section, raw) })
    }
  }
  return lines
}

function settingOf(section: string, text: string): Setting | null {
  const match = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/s.exec(text)
  if (!match || section === '') return null
  return {
    key: `${section}.${(match[1] ?? '').toLowerCase()}`,
    value: match[2] === undefined ? 'true' : plainValue(match[2]),
  }
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', b: '\b', '\n': '' }

/** Without quotes, escapes and comments. */
function plainValue(text: string): string {
  let value = ''
  let isQuoted = false
  /** Blanks at the end count only in quotes. */
  let keep = 0
  for (let i = 0; i < text.length; i++) {
    const char = text[i] ?? ''
    if (char === '"') {
      isQuoted = !isQuoted
      keep = value.length
    } else if (char === '\\') {
      const next = text[++i] ?? ''
      value += ESCAPES[next] ?? next
      keep = value.length
    } else if (!isQuoted && (char === '#' || char === ';')) {
      break
    } else {
      value += char
      if (isQuoted || !/\s/.test(char)) keep = value.length
    }
  }
  return value.slice(0, keep)
}

function quotedValue(value: string): string {
  const escaped = value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t')
  return /^\s|\s$|[#;]/.test(value) ? `"${escaped}"` : escaped
}

export function isTrue(value: string | null): boolean {
  return value !== null && /^(true|yes|on|1|)$/i.test(value)
}

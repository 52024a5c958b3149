// Filters what a program writes to a terminal that users watch. A terminal obeys escape sequences: it sets titles,
// copies to the clipboard, opens links, prints, changes its palette, and types answers to queries as if its user had
// typed them. So this filter lets text through, and only those escape sequences that draw. A complete sequence is
// written again in a normal form, so the output is never the beginning of something else. Chunks may end anywhere.

const ESC = 0x1b
const BEL = 0x07
const CANCEL = [0x18, 0x1a]
/** Bell, backspace, tab, line ends, and the two character sets. */
const DRAWING_CONTROLS = { from: 0x07, to: 0x0f }
const REPLACEMENT = [0xef, 0xbf, 0xbd]
/** Longer sequences never draw. */
const MAX_SEQUENCE_CHARS = 64
/** After this many bytes without an end, a string is given up, and text follows again. */
const MAX_STRING_BYTES = 1024 * 1024
/** The largest repeat count of a sequence. */
const MAX_REPEAT = 500

/** Save and restore the cursor, keypad, line moves, tab stops, reset; the test picture; ASCII and line drawing. */
const ESCAPES = /^(?:[78=>DEHMc]|#8|[()*+][AB0])$/
/** Bytes that begin a string: DCS, SOS, OSC, PM, APC, after ESC and as one character. */
const STRINGS = new Set([...'PX]^_'])
const STRING_CODES = new Set([0x90, 0x98, 0x9d, 0x9e, 0x9f])
/** The C1 characters for ESC D, E, H and M. */
const MOVES: Readonly<Record<number, string>> = { 132: 'D', 133: 'E', 136: 'H', 141: 'M' }
const CSI = 0x9b

/** Moves, erases, inserts, scrolls, colours, margins. */
const DRAWING = /^(?:[@ABCDEFGHJKLMPSTX`adefgmr]|\?[JK]|!p| q)$/
const REPEATING = /^[bIZ]$/
/** Insertion. */
const MODES = new Set(['4'])
/**
 * Cursor keys, reverse video, origin, wrap, the cursor's shape, the alternate screen, keypad, and the mouse, which the
 * viewer moves. Not: focus reports, the window's width, the encoding of keys and pastes.
 */
const PRIVATE_MODES = new Set('1 5 6 7 12 25 45 47 66 1000 1002 1003 1006 1047 1048 1049'.split(' '))
const BRACKETED_PASTE = '2004'

type State = 'ground' | 'escape' | 'csi' | 'string'
/** The number of bytes that follow the first byte of a character, and the allowed range of the first of them. */
type Lead = { readonly more: number; readonly low: number; readonly high: number }

export class TerminalOutput {
  /** Whether the program enabled bracketed paste. The terminals are not told: this service marks pasted text itself. */
  isPasteMarked = false
  /** Bytes at the end of the input that are still undecided: no output was made for them. */
  held = 0
  #state: State = 'ground'
  #sequence = ''
  #char: number[] = []
  #lead: Lead | null = null
  #stringBytes = 0
  #out = new Uint8Array()
  #length = 0

  /** The result is valid until the next call. */
  push(chunk: Uint8Array): Uint8Array {
    // A byte becomes three at most.
    const most = 3 * (chunk.length + this.#char.length) + MAX_SEQUENCE_CHARS + 8
    if (this.#out.length < most) this.#out = new Uint8Array(most)
    this.#length = 0
    for (let at = 0; at < chunk.length; ) {
      const end = this.#isBetween ? endOfText(chunk, at) : at
      if (end > at) {
        this.#out.set(chunk.subarray(at, end), this.#length)
        this.#length += end - at
        at = end
        continue
      }
      this.#take(chunk[at++] ?? 0)
      this.held = this.#isBetween ? 0 : this.held + 1
    }
    return this.#out.subarray(0, this.#length)
  }

  /** Ends any open sequence or character without output. */
  reset(): void {
    this.#state = 'ground'
    this.#lead = null
    this.#char = []
    this.held = 0
  }

  get #isBetween(): boolean {
    return this.#state === 'ground' && this.#lead === null
  }

  #take(byte: number): void {
    if (this.#lead !== null) {
      if (this.#continues(byte)) return
      // Incomplete: a replacement character is written.
      this.#lead = null
      this.#character(REPLACEMENT)
    }
    if (byte < 0x80) this.#ascii(byte)
    else {
      this.#lead = leadOf(byte)
      this.#char = [byte]
      if (this.#lead === null) this.#character(REPLACEMENT)
    }
  }

  /** Handles a byte inside a character; false when it does not belong there. */
  #continues(byte: number): boolean {
    const { more, low, high } = this.#lead ?? { more: 0, low: 1, high: 0 }
    if (byte < low || byte > high) return false
    this.#char.push(byte)
    this.#lead = more > 1 ? { more: more - 1, low: 0x80, high: 0xbf } : null
    if (this.#lead !== null) return true
    const [first = 0, second = 0] = this.#char
    if (first === 0xc2 && second < 0xa0) this.#control(second)
    else this.#character(this.#char)
    return true
  }

  #character(bytes: readonly number[]): void {
    if (this.#state === 'string') {
      this.#inString(bytes.length)
      return
    }
    // It ends an open sequence.
    this.#state = 'ground'
    this.#write(bytes)
  }

  /** A C1 control character from 0x80 to 0x9f, which stands for two bytes. */
  #control(code: number): void {
    const move = MOVES[code]
    if (STRING_CODES.has(code)) this.#begin('string')
    else if (code === CSI) this.#begin('csi')
    else this.#state = 'ground'
    if (move !== undefined) this.#writeText(`\x1b${move}`)
  }

  #ascii(byte: number): void {
    if (byte === ESC) this.#begin('escape')
    else if (CANCEL.includes(byte)) this.#state = 'ground'
    else if (this.#state === 'string') {
      if (byte === BEL) this.#state = 'ground'
      else this.#inString(1)
    } else if (byte < 0x20 || byte === 0x7f) this.#drawingControl(byte)
    else if (this.#state === 'ground') this.#write([byte])
    else if (this.#state === 'escape') this.#escape(String.fromCharCode(byte))
    else this.#inCsi(String.fromCharCode(byte))
  }

  /** Inside a sequence it would be written before the sequence. */
  #drawingControl(byte: number): void {
    const isDrawing = byte >= DRAWING_CONTROLS.from && byte <= DRAWING_CONTROLS.to
    if (isDrawing && this.#state === 'ground') this.#write([byte])
  }

  #begin(state: State): void {
    this.#state = state
    this.#sequence = ''
    this.#stringBytes = 0
  }

  #inString(bytes: number): void {
    this.#stringBytes += bytes
    if (this.#stringBytes > MAX_STRING_BYTES) this.#state = 'ground'
  }

  #add(char: string): void {
    if (this.#sequence.length <= MAX_SEQUENCE_CHARS) this.#sequence += char
  }

  #escape(char: string): void {
    const isFirst = this.#sequence === ''
    if (char < '0') this.#add(char)
    else if (isFirst && char === '[') this.#begin('csi')
    else if (isFirst && STRINGS.has(char)) this.#begin('string')
    else this.#endEscape(this.#sequence + char)
  }

  #endEscape(sequence: string): void {
    this.#state = 'ground'
    if (!ESCAPES.test(sequence)) return
    if (sequence === 'c') this.isPasteMarked = false
    this.#writeText(`\x1b${sequence}`)
  }

  #inCsi(char: string): void {
    if (char < '@') this.#add(char)
    else this.#endCsi(char)
  }

  #endCsi(char: string): void {
    this.#state = 'ground'
    const parts = /^([<=>?]?)([0-9;:]*)([ -/]*)$/.exec(this.#sequence)
    if (parts === null || this.#sequence.length > MAX_SEQUENCE_CHARS) return
    const [, prefix = '', numbers = '', between = ''] = parts
    if (/\d{6}/.test(numbers)) return
    const kind = prefix + between + char
    if (/^\??[hl]$/.test(kind)) this.#modes(prefix, numbers, char)
    else if (/^[su]$/.test(kind) && numbers === '') this.#writeText(`\x1b[${char}`)
    else if (REPEATING.test(kind) && /^\d*$/.test(numbers))
      this.#writeText(`\x1b[${Math.min(Number(numbers), MAX_REPEAT)}${char}`)
    // With more numbers it has another meaning.
    else if (DRAWING.test(kind) && !(char === 'T' && numbers.includes(';'))) {
      if (kind === '!p') this.isPasteMarked = false
      this.#writeText(`\x1b[${prefix}${numbers}${between}${char}`)
    }
  }

  #modes(prefix: string, numbers: string, char: string): void {
    const asked = numbers.split(';')
    if (prefix === '?' && asked.includes(BRACKETED_PASTE)) this.isPasteMarked = char === 'h'
    const allowed = asked.filter((mode) => (prefix === '?' ? PRIVATE_MODES : MODES).has(mode))
    if (allowed.length > 0) this.#writeText(`\x1b[${prefix}${allowed.join(';')}${char}`)
  }

  #writeText(text: string): void {
    for (let at = 0; at < text.length; at++) this.#out[this.#length++] = text.charCodeAt(at)
  }

  #write(bytes: readonly number[]): void {
    for (const byte of bytes) this.#out[this.#length++] = byte
  }
}

/** The end of the run of printable ASCII and line ends. */
function endOfText(chunk: Uint8Array, from: number): number {
  let at = from
  for (; at < chunk.length; at++) {
    const byte = chunk[at] ?? 0
    if ((byte < 0x20 && byte !== 0x0a && byte !== 0x0d) || byte > 0x7e) break
  }
  return at
}

/** Null for a byte that begins no character: overlong encodings and surrogates are invalid. */
function leadOf(byte: number): Lead | null {
  if (byte < 0xc2 || byte > 0xf4) return null
  const more = byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3
  const low = byte === 0xe0 ? 0xa0 : byte === 0xf0 ? 0x90 : 0x80
  const high = byte === 0xed ? 0x9f : byte === 0xf4 ? 0x8f : 0xbf
  return { more, low, high }
}

/**
 * Pasted text as if it was typed: without control characters, so that nothing in it is a key or ends the paste marks.
 * `isMarked`: the program has enabled bracketed paste.
 */
export function pastedBytes(text: string, isMarked: boolean): Uint8Array {
  const typed = [...text.replace(/\r\n|\n/g, '\r')].filter((char) => !isControl(char)).join('')
  return new TextEncoder().encode(isMarked ? `\x1b[200~${typed}\x1b[201~` : typed)
}

function isControl(char: string): boolean {
  const code = char.codePointAt(0) ?? 0
  return code !== 0x09 && code !== 0x0d && (code < 0x20 || (code >= 0x7f && code < 0xa0))
}

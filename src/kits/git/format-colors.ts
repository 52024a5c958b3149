// Converts color names of git's formats and settings (`bold red`, `#ff0000 ul`, `reset`) to terminal codes.

const COLORS = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white']
const DEFAULT_COLOR = 9
const ATTRIBUTES: Readonly<Record<string, { on: number; off: number }>> = {
  bold: { on: 1, off: 22 },
  dim: { on: 2, off: 22 },
  italic: { on: 3, off: 23 },
  ul: { on: 4, off: 24 },
  blink: { on: 5, off: 25 },
  reverse: { on: 7, off: 27 },
  strike: { on: 9, off: 29 },
}
const FOREGROUND = 30
const BACKGROUND = 40
/** The offset from the normal to the bright colors. */
const BRIGHTER = 60

/** Null if the words are not a color. */
export function terminalColor(words: string): string | null {
  const attributes = new Set<number>()
  const colors: string[][] = []
  let isReset = false
  for (const word of words.split(/\s+/).filter((part) => part !== '')) {
    const attribute = attributeCode(word)
    if (/^reset$/i.test(word)) isReset = true
    else if (attribute !== null) attributes.add(attribute)
    else {
      const color = colorCodes(word, colors.length === 0 ? FOREGROUND : BACKGROUND)
      if (color === null || colors.length === 2) return null
      colors.push(color)
    }
  }
  const codes = [...[...attributes].sort((a, b) => a - b).map(String), ...colors.flat()]
  if (codes.length === 0) return isReset ? '\x1b[m' : ''
  return `\x1b[${isReset ? ';' : ''}${codes.join(';')}m`
}

function attributeCode(word: string): number | null {
  const [, no, name = ''] = /^(no-?)?(.*)$/.exec(word) ?? []
  const found = Object.hasOwn(ATTRIBUTES, name) ? ATTRIBUTES[name] : undefined
  if (!found) return null
  return no === undefined ? found.on : found.off
}

/** Without a code for `normal`, which does not change the color. */
function colorCodes(word: string, base: number): string[] | null {
  const name = word.toLowerCase()
  if (name === 'normal' || name === '-1') return []
  if (name === 'default') return [String(base + DEFAULT_COLOR)]
  const bright = name.startsWith('bright')
  const at = COLORS.indexOf(bright ? name.slice('bright'.length) : name)
  if (at >= 0) return [String(base + at + (bright ? BRIGHTER : 0))]
  const [, red, green, blue] = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/.exec(name) ?? []
  if (red && green && blue)
    return [`${base + 8};2;${[red, green, blue].map((part) => Number.parseInt(part, 16)).join(';')}`]
  if (!/^\d{1,3}$/.test(name) || Number(name) > 255) return null
  const number = Number(name)
  if (number < 16) return [String(base + (number % 8) + (number < 8 ? 0 : BRIGHTER))]
  return [`${base + 8};5;${number}`]
}

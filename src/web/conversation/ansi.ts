// The output of a terminal as colored text. Cursor movements are left out; of a line that was overwritten, the last
// version is shown.

import Anser from 'anser'

export type Coloured = { text: string; classes: string }

export function coloured(output: string): Coloured[] {
  return Anser.ansiToJson(overprinted(output), { use_classes: true, json: true, remove_empty: true }).map(
    ({ content, fg, bg, fg_truecolor, bg_truecolor, decorations }) => {
      const [front, back] = [nearest(fg, fg_truecolor), nearest(bg, bg_truecolor)]
      const classes = [front, back && `${back}-bg`, ...decorations.map((name) => `ansi-${name}`)]
      return { text: content, classes: classes.filter(Boolean).join(' ') }
    },
  )
}

/** Whether a terminal would show the text differently from plain text. */
export const isForTerminal = (output: string): boolean => output.includes(ESC) || output.includes('\r')

/**
 * The page has the sixteen colors of a terminal, which are readable in both themes: every other color is replaced by
 * the nearest one.
 */
function nearest(name: string | null, trueColour: string | null): string | null {
  const cell = /^ansi-palette-(\d+)$/.exec(name ?? '')?.[1]
  if (cell !== undefined) return hueClass(...ofPalette(Number(cell)))
  if (name !== 'ansi-truecolor') return name
  const [red = 0, green = 0, blue = 0] = (trueColour ?? '').split(',').map(Number)
  return hueClass(red, green, blue)
}

const STEPS = [0, 95, 135, 175, 215, 255]

/** The cube of 6 × 6 × 6 colors from 16 on, and the grays after it. */
function ofPalette(cell: number): [number, number, number] {
  if (cell >= 232) return [8 + 10 * (cell - 232), 8 + 10 * (cell - 232), 8 + 10 * (cell - 232)]
  const at = cell - 16
  const step = (index: number) => STEPS[index] ?? 0
  return [step(Math.floor(at / 36)), step(Math.floor(at / 6) % 6), step(at % 6)]
}

/** By sixths of the hue circle, which starts in the middle of red. */
const HUES = ['red', 'yellow', 'green', 'cyan', 'blue', 'magenta', 'red'] as const

function hueClass(red: number, green: number, blue: number): string {
  const [least, most] = [Math.min(red, green, blue), Math.max(red, green, blue)]
  const spread = most - least
  if (spread < 32) return most < 85 ? 'ansi-black' : most < 170 ? 'ansi-bright-black' : 'ansi-white'
  const sixths =
    most === red ? (green - blue) / spread : most === green ? 2 + (blue - red) / spread : 4 + (red - green) / spread
  return `ansi-${HUES[Math.round((sixths + 6) % 6)] ?? 'red'}`
}

const ESC = String.fromCharCode(27)
const BEL = String.fromCharCode(7)
/** Cursor movements, titles and similar sequences, and character sets. */
const MOVES = new RegExp(
  `${ESC}\\[[0-9;?]*[A-HJKSTfhlnsu]|${ESC}\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)|${ESC}[()][A-Z0-9]`,
  'g',
)

/** Everything except control characters other than tabs, line ends and the start of a color. */
const isPrinted = (character: string): boolean => character >= ' ' || `\t\n\r${ESC}`.includes(character)

const overprinted = (output: string): string =>
  output
    .replaceAll(MOVES, '')
    .split('')
    .filter(isPrinted)
    .join('')
    .split('\n')
    .map((line) => line.replace(/\r+$/, '').split('\r').at(-1) ?? '')
    .join('\n')

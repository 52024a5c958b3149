// What a terminal prints, as text with colours. Cursor movements are left out; a line that is printed over itself stands as it was
// printed last.

import Anser from 'anser'

export type Coloured = { text: string; classes: string }

export function coloured(output: string): Coloured[] {
  return Anser.ansiToJson(overprinted(output), { use_classes: true, json: true, remove_empty: true }).map(
    ({ content, fg, bg, decorations }) => ({
      text: content,
      classes: [fg, bg && `${bg}-bg`, ...decorations.map((name) => `ansi-${name}`)].filter(Boolean).join(' '),
    }),
  )
}

const ESC = String.fromCharCode(27)
const BEL = String.fromCharCode(7)
/** Cursor movements, titles and their like, and character sets. */
const MOVES = new RegExp(
  `${ESC}\\[[0-9;?]*[A-HJKSTfhlnsu]|${ESC}\\][^${BEL}${ESC}]*(?:${BEL}|${ESC}\\\\)|${ESC}[()][A-Z0-9]`,
  'g',
)

/** All but tabs, line ends and the beginning of a colour. */
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
